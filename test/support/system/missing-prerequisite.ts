/** A prerequisite of the tests is missing on this machine; the message says which, and how to install it. */
export class MissingPrerequisite extends Error {}
