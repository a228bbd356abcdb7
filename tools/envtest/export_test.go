package envtest

// Calm is how long nothing is written for users to be quiet.
const Calm = calm

// AwaitQuiet has another timeout.
var AwaitQuiet = (*Env).awaitQuiet
