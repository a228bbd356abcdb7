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
	{
		Name:    "an earlier revision of a parent can't be asked about: its children stay as they are until their turn",
		Where:   "warning",
		Meaning: "The function has failed for the fields that some children were made with. They are left alone, and updated when their turn comes.",
		Cause:   "An operator with the option Revisions of package desired asks its function for earlier states of a resource, too. A newer function may refuse them.",
		Remedy:  "None, as long as the update goes on. Let the function accept what earlier ones have accepted.",
	},
}
