package messages

// errorsReconcile are errors of reconciles and of conditions.
var errorsReconcile = []Entry{
	{
		Name: "request.Error",
		Meaning: "An error with marks: what it means for the resource, and when the reconcile is repeated. If it has a " +
			"time for that, the text ends with it.",
		Cause: "The operator's code returned `request.Precondition`, `Configuration`, `Permanent`, `RetryAfter` or " +
			"`Passing`.",
		Remedy: "Do what the text says. The marks show in the reason of the conditions.",
	},
	{
		Name:    "leader.ErrLost",
		Texts:   []string{"leadership lost"},
		Meaning: "Another replica leads, or may lead. Running work was cancelled.",
		Cause:   "The Lease couldn't be renewed in time, or another replica has taken it.",
		Remedy: "Nothing if it is rare: the process ends and is restarted. See [this replica has lost the " +
			"leadership](#this-replica-has-lost-the-leadership).",
	},
	{
		Name:    "peering.ErrPaused",
		Texts:   []string{"paused because of another process of the operator"},
		Meaning: "The process pauses, so its running reconciles end.",
		Cause:   "Another process of the operator has a higher or the same priority, or somebody has frozen the operator.",
		Remedy:  "`NAME peers` shows why. Reconciles are repeated when the process goes on.",
	},
	{
		Name:    "leader.ErrNotLeading",
		Texts:   []string{"this replica doesn't lead"},
		Meaning: "A request wasn't sent, because this replica doesn't lead any more.",
		Cause:   "A reconcile went on after the leadership was lost.",
		Remedy:  "Nothing: another replica repeats the work.",
	},
	{
		Name:    "source.ErrReleased",
		Texts:   []string{"the kind is no longer reconciled"},
		Meaning: "Work for a kind was cancelled, because the operator no longer reconciles the kind.",
		Cause:   "The definition of the kind was deleted, or the operator's code has released the kind.",
		Remedy:  "Nothing: the work goes on when the kind is reconciled again.",
	},
	{
		Name: "desired.ChildError",
		Meaning: "The function of a parent returned a child that the parent can't have. No child was created, changed " +
			"or deleted.",
		Cause: "The child is of a kind that isn't declared by `desired.Child`, is in another namespace than its parent, " +
			"has no name, or was returned twice. The text names the child and its place in the answer.",
		Remedy: "Correct the function. The parent is reconciled again when it, a child or a related object changes.",
	},
	{
		Name:    "templates.Error",
		Meaning: "A template or its values are wrong. The text begins with the file, line and column.",
		Cause:   "A syntax error, a missing value, or an object that isn't valid YAML.",
		Remedy:  "Correct the place in the template. If the text speaks of the spec, correct the resource.",
	},
	{
		Name: "status.ErrInvalid",
		Meaning: "A condition or a status can't be written, because the API server would refuse it. The text has " +
			"`invalid condition type`, `invalid condition status`, `invalid reason`, `invalid generation` or `invalid " +
			"kind`.",
		Cause: "The operator's code sets a type that isn't a qualified name, a status other than True, False and " +
			"Unknown, or a reason that isn't a CamelCase word.",
		Remedy: "Correct the value in the operator's code.",
	},
	{
		Name:    "status.ErrNoTime",
		Texts:   []string{"no usable time given"},
		Meaning: "A condition changes, and no time was given for that.",
		Cause:   "The zero time was passed.",
		Remedy:  "Pass the time, such as `time.Now()`.",
	},
	{
		Name:    "status.ErrUnsupportedObject",
		Texts:   []string{"object can't hold conditions"},
		Meaning: "The value has no conditions.",
		Cause:   "It is nil, or a type whose status has no conditions.",
		Remedy:  "Pass an unstructured object, a map, or a pointer to a struct with `status.conditions`.",
	},
	{
		Name:    "status.ErrDeclaration",
		Texts:   []string{"declared conditions"},
		Meaning: "The conditions that a controller declares can't be used, or a report doesn't fit them.",
		Cause:   "A type is declared twice or not at all, or two types summarise.",
		Remedy:  "Correct the declaration in the method `Conditions` of the controller, or the type that is reported.",
	},
	{
		Name:    "status.ErrPatch",
		Texts:   []string{"patch of conditions"},
		Meaning: "No patch can be made of the conditions of two objects.",
		Cause: "No type is owned, the objects aren't the same one, a field that the patch needs is missing, or a " +
			"condition is invalid.",
		Remedy: "Do what the rest of the text says.",
	},
	{
		Name:    "status.ErrHeldByOthers",
		Texts:   []string{"another field manager owns a condition that has to be removed"},
		Meaning: "A condition can't be removed by an apply.",
		Cause:   "Another manager, or an earlier update under the same name, owns fields of it.",
		Remedy:  "Remove it with a merge patch, or convert the updates to applies with client-go's csaupgrade.",
	},
	{
		Name:    "known.ErrDefinition",
		Texts:   []string{"invalid definition"},
		Meaning: "`known.Conditions` got something that isn't a CustomResourceDefinition with conditions.",
		Cause:   "The schema of a served version has no list `status.conditions`, or the object is of another kind.",
		Remedy:  "Leave the kind out: the general rule needs conditions.",
	},
	{
		Name:    "readiness.ErrExpectation",
		Texts:   []string{"invalid expectation"},
		Meaning: "A rule in a `readiness.Registry` is invalid.",
		Cause:   "A condition has no type or an unknown status, or the path of a field is wrong.",
		Remedy:  "Correct the rule. `Registry.Validate` finds such mistakes in a test.",
	},
	{
		Name:    "watcher.FinalizerError",
		Texts:   []string{"can't write the finalizer of a watcher"},
		Meaning: "A finalizer of a watcher couldn't be written. The write is repeated as the retry policy of the watcher says.",
		Cause:   "The rest of the text says why. Mostly a right is missing, or the cluster doesn't answer.",
		Remedy:  "Grant the right `patch` for the kind, if it is missing.",
	},
}
