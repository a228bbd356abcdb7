package messages

// logKinds are lines in the log about kinds that are found at run time.
var logKinds = []Entry{
	{
		Name:    "the end of a kind isn't complete, retrying",
		Where:   "warning",
		Meaning: "A kind isn't served or selected any more, and its reconciler couldn't be ended.",
		Cause:   "A running reconcile doesn't return, or the operator's function for the end of a kind panicked.",
		Remedy:  "Read `error`. It is tried again.",
	},
	{
		Name:    "the kinds can't be selected: they stay as they are",
		Where:   "warning",
		Meaning: "The function that selects kinds panicked. The kinds that are reconciled stay the same.",
		Cause:   "A mistake in the operator.",
		Remedy:  "Correct the function of the selector. `error` has the panic.",
	},
	{
		Name:    "a name means several kinds, none of them is reconciled: select the group, too",
		Where:   "warning",
		Meaning: "A selector without a group names kinds of several groups.",
		Cause:   "Several CustomResourceDefinitions have this name.",
		Remedy:  "Name the group in the selector. `kinds` lists the candidates.",
	},
	{
		Name:    "a kind isn't reconciled: the API server doesn't offer all verbs that it needs",
		Where:   "warning",
		Meaning: "A kind is selected, and can't be watched or written.",
		Cause:   "It is a kind without storage, such as a review, or a read-only API. `lacks` has the missing verbs.",
		Remedy:  "Exclude the kind from the selector.",
	},
	{
		Name:    "a kind isn't reconciled a second time: the engine has a reconciler for it",
		Where:   "warning",
		Meaning: "A selected kind has a reconciler of its own, so the selector leaves it out.",
		Cause:   "The kind was added by `Control` or `Drive`, or two selectors match it.",
		Remedy:  "Exclude it from the selector.",
	},
	{
		Name:  "a kind isn't reconciled: its reconciler can't be made, retrying",
		Where: "warning",
		Meaning: "The function that makes a reconciler for a kind reports an error or panicked, or the engine refuses " +
			"the reconciler.",
		Cause:  "A mistake in that function, or something that it reads isn't there yet.",
		Remedy: "Read `error`. It is tried again.",
	},
}
