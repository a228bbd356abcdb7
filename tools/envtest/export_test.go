package envtest

// AwaitQuiet has another timeout.
var AwaitQuiet = (*Env).awaitQuiet
