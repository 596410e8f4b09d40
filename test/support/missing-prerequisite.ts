/** This machine lacks something that the tests need; the message says what, and how a person gets it. */
export class MissingPrerequisite extends Error {}
