package messages

// logEngine are lines in the log of the engine.
var logEngine = []Entry{
	{
		Name:    "reconcile failed",
		Where:   "warning",
		Meaning: "A reconcile ended with an error. It is tried again after `retry_in`.",
		Cause: "The text of `error` says why. The status of the resource has the same text, unless the error goes away " +
			"at once.",
		Remedy: "Search this page for a part of `error`. `NAME status RESOURCE` shows the state of the resource.",
	},
	{
		Name:    "reconcile failed, waiting for a change",
		Where:   "error",
		Meaning: "A reconcile ended with an error that isn't retried. The resource is left alone until it changes.",
		Cause:   "The operator marked the error as permanent, or has tried as often as `retry.attempts` allows.",
		Remedy:  "Correct what `error` names. `NAME trigger RESOURCE` has it tried again without a change.",
	},
	{
		Name:    "reconcile panicked",
		Where:   "error",
		Meaning: "The code of a reconciler panicked. The process goes on, and the resource is tried again.",
		Cause:   "A mistake in the operator, such as a nil pointer.",
		Remedy:  "The attribute `at` has the file and line, `stack` the calls. Correct the operator.",
	},
	{
		Name:  "panic",
		Where: "error",
		Meaning: "The operator's own code panicked: in a method of a controller or a component, a startup, a probe, or " +
			"the function of `Login`.",
		Cause:  "A mistake in the operator, such as a nil pointer or an index out of range.",
		Remedy: "The attribute `at` has the file and line, `stack` the calls. Correct the operator.",
	},
	{
		Name:    "panic in a function of Cleanup",
		Where:   "error",
		Meaning: "A function that was passed to `Session.Cleanup` panicked. Other cleanups were called.",
		Cause:   "A mistake in the operator.",
		Remedy:  "Correct the function that `error` names.",
	},
	{
		Name:    "reconcile was cancelled by the shutdown",
		Where:   "warning",
		Meaning: "The process ends, so a running reconcile was cancelled.",
		Cause: "It didn't end within `watch.grace`, because a request or a hook takes long, or the leadership was " +
			"lost.",
		Remedy: "Nothing: the next process continues. If it is frequent, use the context in your code, or raise " +
			"`watch.grace`.",
	},
	{
		Name:    "a reconcile is stuck: it doesn't return although its context has ended",
		Where:   "error",
		Meaning: "A reconcile runs for longer than its timeout. Its resource isn't reconciled, and one worker is busy.",
		Cause:   "The operator's code ignores its context: a call without a timeout, or a lock that is never released.",
		Remedy: "Find the call in a dump of the goroutines (`profiling.address`), and pass it the context. A restart " +
			"of the Pod helps for now.",
	},
	{
		Name:    "a reconcile that was stuck has returned",
		Where:   "warning",
		Meaning: "A reconcile that ran for longer than its timeout has ended.",
		Cause:   "The call that it waited for has returned.",
		Remedy:  "Pass the context to slow calls, or raise the timeout (`watch.timeout`).",
	},
	{
		Name:  "a kind can't be watched yet, waiting",
		Where: "warning",
		Meaning: "The operator waits until it can watch a kind. If it is a kind that the operator controls, its " +
			"resources aren't reconciled until then. Otherwise changes of that kind bring nothing to reconcile.",
		Cause: "Its CustomResourceDefinition isn't installed, or a right to list or watch it is missing.",
		Remedy: "Read `reason`. Install the definition, or grant get, list and watch by RBAC. The operator continues " +
			"by itself.",
	},
	{
		Name:    "an external source panicked: it is run again",
		Where:   "error",
		Meaning: "The code of an external source of events panicked. It is run again after a pause.",
		Cause:   "A mistake in the source.",
		Remedy:  "The attribute `stack` has the place. Correct the source.",
	},
	{
		Name:    "an external source can't be read",
		Where:   "warning",
		Meaning: "An external source of events reports an error. Events may be late.",
		Cause:   "What the source reads, such as a queue or a web service, doesn't answer.",
		Remedy:  "Read `error`.",
	},
	{
		Name:  "key ignored: a source returned a key of another kind",
		Where: "error",
		Meaning: "A source of events named an object of a kind that its controller doesn't control. The key is " +
			"ignored. It is logged once.",
		Cause:  "The function that maps events to keys returns the wrong reference.",
		Remedy: "Return references to resources of the controller's kind.",
	},
	{
		Name:    "key ignored: a source returned a key without a name",
		Where:   "error",
		Meaning: "A source of events returned a reference without a name. The key is ignored. It is logged once.",
		Cause:   "The function that maps events to keys returns a reference that it didn't fill in.",
		Remedy:  "Leave such references out of the result.",
	},
	{
		Name:    "a filter panicked: its event counts",
		Where:   "error",
		Meaning: "A filter of events panicked. Its event counts, so a reconcile may be needless. It is logged once.",
		Cause:   "A mistake in the filter, such as a missing check for nil.",
		Remedy:  "Correct the filter. The attribute `value` has the panic.",
	},
	{
		Name:  "a mapping panicked: its event is ignored",
		Where: "error",
		Meaning: "A function that maps events to keys panicked. Its event brings nothing to reconcile. It is logged " +
			"once.",
		Cause:  "A mistake in the function.",
		Remedy: "Correct the function. The attribute `value` has the panic.",
	},
	{
		Name:  "an observer panicked",
		Where: "error",
		Meaning: "The method `Observe` of a reconciler panicked. The event is handled as usual otherwise. It is logged " +
			"once.",
		Cause:  "A mistake in the method, such as a missing check for nil.",
		Remedy: "Correct the method. The attribute `value` has the panic.",
	},
	{
		Name:  "a forgetter panicked",
		Where: "error",
		Meaning: "The method `Forget` of a reconciler panicked. What it remembers of an object that is gone may stay. " +
			"It is logged once.",
		Cause:  "A mistake in the method.",
		Remedy: "Correct the method. The attribute `value` has the panic.",
	},
	{
		Name:    "an index panicked: it may be incomplete",
		Where:   "error",
		Meaning: "The function of an index panicked, so the index may lack an object. It is logged once.",
		Cause:   "A mistake in the function, such as a missing check for nil.",
		Remedy:  "Correct the function. The attribute `value` has the panic.",
	},
	{
		Name:  "the function of an index failed for an object",
		Where: "warning",
		Meaning: "The function that returns the values of an object for an index of handlers returned an error or " +
			"panicked, or its Go type can't hold the object. The last values of the object stay if `kept` is true, " +
			"otherwise it has none. It is logged once for each object and error.",
		Cause:  "An object that the function doesn't expect, or a Go type that doesn't fit the kind.",
		Remedy: "Correct the object, or the function. The attribute `object` has the object, `err` the error.",
	},
	{
		Name:  "rights are missing: add these rules to the role of the operator",
		Where: "warning",
		Meaning: "The operator can't watch a kind, because its role lacks rights. `rules` has all rights that it " +
			"lacks.",
		Cause: "The role was written by hand or is older than this release, or its binding is missing.",
		Remedy: "Add `rules` to the ClusterRole, or to the Role of the namespace, that the text names. The operator " +
			"continues by itself.",
	},
}
