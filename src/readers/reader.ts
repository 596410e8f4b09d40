// The program of a reader. It ends with the daemon.
import { answerOrders } from './answer-orders.ts'
import { tasks } from './tasks.ts'

answerOrders(tasks)
