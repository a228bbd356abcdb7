package messages

// conditionsOwn are the reasons of conditions that a controller declares.
var conditionsOwn = []Entry{
	{
		Name:    "Error",
		Where:   "a condition of your own: its bad status",
		Meaning: "An error was reported for the condition, and no row of its table of errors gives a reason.",
		Cause:   "The operator's code called `Conditions().Result` with an error for which it declares no reason.",
		Remedy: "Read the message: it is the error. Authors give the error a reason of its own by `status.ErrorIs` or " +
			"`status.ErrorAs`.",
	},
	{
		Name:    "NotReported",
		Where:   "a condition of your own: Unknown",
		Texts:   []string{"the last visit didn't report it"},
		Meaning: "The last reconcile ended without reporting the condition.",
		Cause:   "The reconcile failed before it reported the condition, which is declared with `Reset`.",
		Remedy:  "Read the condition `Updating` or the log for the error that ended the reconcile.",
	},
	{
		Name:    "Unspecified",
		Where:   "a condition that is copied or that summarises others",
		Meaning: "The condition was copied from another object, where it has no valid reason.",
		Cause:   "The other object's controller writes no reason, or one that isn't a CamelCase word.",
		Remedy:  "Read the message, and the conditions of the other object.",
	},
	{
		Name:  "Missing",
		Where: "a condition that summarises others: Unknown",
		Texts: []string{"there is no such condition"},
		Meaning: "The summary can't be decided, because the object doesn't have one of its parts. The message names " +
			"the part.",
		Cause:  "The controller that reports this part hasn't reconciled the object yet, or doesn't run.",
		Remedy: "Find out why nobody reports the condition that the message names.",
	},
	{
		Name:    "Stale",
		Where:   "a condition that summarises others: Unknown",
		Texts:   []string{"the condition describes an older generation"},
		Meaning: "The summary can't be decided, because one of its parts describes an older generation of the object.",
		Cause:   "The spec has changed, and the controller that reports this part hasn't reconciled the new spec yet.",
		Remedy:  "Wait. If it stays, find out whether the controller that reports the part still runs.",
	},
	{
		Name:    "AllGood",
		Where:   "a condition that summarises others: True",
		Meaning: "All parts of the summary are good.",
		Cause:   "No part is bad or unknown.",
		Remedy:  "Nothing.",
	},
}
