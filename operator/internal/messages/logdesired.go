package messages

// logDesired are lines in the log about the functions of package reconcile/desired.
var logDesired = []Entry{
	{
		Name:  "the function of a parent wants something else each time it is asked: it is asked again later",
		Where: "warning",
		Meaning: "The answer of the function has changed the children or the status each time, `rounds` times in a row. " +
			"It is asked again after `again`.",
		Cause: "The answer depends on something that differs with each call, such as a time or a random number. A function " +
			"that reaches its end in several steps may need more of them.",
		Remedy: "Let the function depend on its request alone. Nothing, if the line is rare.",
	},
}
