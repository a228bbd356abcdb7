package messages

// conditionsRollout are the reasons of the conditions of a resource.
var conditionsRollout = []Entry{
	{
		Name:    "Stable",
		Where:   "Ready: True; Updating: False",
		Texts:   []string{"Verify Complete", "Rollout Complete"},
		Meaning: "Everything that the resource consists of is applied and ready.",
		Cause:   "The last reconcile has verified every component.",
		Remedy: "Nothing. Text after a semicolon is a remark, such as a Deployment that is paused or a field that is " +
			"left to others.",
	},
	{
		Name:  "Initializing",
		Where: "Ready: False; a condition of your own: Unknown",
		Texts: []string{"Initial Rollout Started", "nothing is known yet"},
		Meaning: "The resource has never been completely ready. A condition of your own has this reason until it is " +
			"first reported.",
		Cause: "Its first rollout is running, waits for something, or has failed with an error that leaves `Ready` as " +
			"it was.",
		Remedy: "Read the message and the reason of the condition `Updating`: they say what the rollout waits for.",
	},
	{
		Name:    "InProgress",
		Where:   "Ready: False",
		Texts:   []string{"Verify InProgress"},
		Meaning: "The resource was ready once, and is not completely ready now.",
		Cause: "Its spec, its version or its configuration has changed, or an object that was ready isn't ready any " +
			"more.",
		Remedy: "Read the message, which names the components that aren't ready. `NAME status RESOURCE` lists all of " +
			"them.",
	},
	{
		Name:    "ConfigError",
		Where:   "Ready: False",
		Meaning: "The resource, or something that it refers to, is wrong. The operator can't correct it.",
		Cause: "A field of the spec, the version, an annotation, a ConfigMap with configuration or a temporary patch " +
			"is invalid, or the cluster refused the content of a rendered object.",
		Remedy: "Correct what the message names. The change brings the resource to reconcile again. If the spec is " +
			"right, the operator renders an invalid object: that is a mistake in the operator.",
	},
	{
		Name:  "Errored",
		Where: "Ready: False; Updating: False",
		Meaning: "The rollout failed. In `Updating` alone, beside `ConfigError`, it means that the resource has to be " +
			"corrected.",
		Cause: "An object has failed, such as a Job or a Deployment after its deadline, or the operator's code " +
			"returned an error without a class, or panicked.",
		Remedy: "Correct the object that the message names. If the message names none, look for the same text in the " +
			"log: a panic has its stack there.",
	},
	{
		Name:    "PreconditionWait",
		Where:   "Updating: True",
		Meaning: "The rollout waits for something that has to exist or to be ready first. That is no failure.",
		Cause: "Setup, a hook or a gate returned `request.Precondition`, or an object has to be gone before its " +
			"successor is applied.",
		Remedy: "Provide what the message names. The operator looks again when something that it watches changes, and " +
			"after a minute.",
	},
	{
		Name:    "VerifyWait",
		Where:   "Updating: True",
		Texts:   []string{"Component verification incomplete", "waits for"},
		Meaning: "Something was applied and isn't ready yet, or a component waits for another one.",
		Cause:   "New Pods start, a volume is bound, a load balancer gets its address, or an object is being deleted.",
		Remedy:  "Wait. If it takes too long, look at the object that the message names, with `kubectl describe`.",
	},
	{
		Name:    "VersionChange",
		Where:   "Updating: True; with Ready: InProgress",
		Texts:   []string{"Version Change Started"},
		Meaning: "The resource is being moved from one version to another one. The message names both.",
		Cause:   "The version in the spec differs from the version that was reconciled last.",
		Remedy:  "Wait until the rollout ends. To go back, set the former version in the spec.",
	},
	{
		Name:    "ClusterError",
		Where:   "Updating: False",
		Meaning: "The API server refused a request of the operator, or didn't answer. `Ready` stays as it was.",
		Cause: "A right is missing, a quota is used up, another manager owns a field, an object belongs to somebody " +
			"else, a kind isn't served, or the API server is down.",
		Remedy: "Read the message: it names the object and what to do. If rights are missing, it begins with the rules " +
			"to add to the role. The operator tries again by itself, later each time.",
	},
	{
		Name:    "TypeDoesNotMatch",
		Where:   "Unreadable: True",
		Meaning: "The type of the operator can't hold the resource. Nothing is done with its children, and a deletion waits.",
		Cause:   "A field has another type than in the operator's code, for example because the schema in the cluster is another one.",
		Remedy:  "Correct the field that the message names, or install the CustomResourceDefinition that the operator is shipped with.",
	},
	{
		Name:    "RolloutWaiting",
		Where:   "Updated: False",
		Meaning: "Some children are still as an earlier state of the resource wants them. The message names a child and the one that it waits for.",
		Cause:   "The other child isn't healthy yet, or is being deleted or created. An operator with the option Revisions of package desired updates one child after the other.",
		Remedy:  "Usually none: wait. If it stays so, look why the other child isn't healthy, such as by its events.",
	},
	{
		Name:    "OnLatestRevision",
		Where:   "Updated: True",
		Meaning: "No child waits for an update to the present state of the resource.",
		Cause:   "Every child has had its turn in the latest update.",
		Remedy:  "None.",
	},
	{
		Name:    "Paused",
		Where:   "Paused: True",
		Texts:   []string{"the resource isn't reconciled until the annotation is removed"},
		Meaning: "The operator leaves the resource alone. All other conditions stay as they were when the pause began.",
		Cause: "The resource has the annotation `operkit.dev/pause-execution` with the value true, for example from " +
			"`NAME pause`.",
		Remedy: "`NAME resume RESOURCE`, or remove the annotation. A deletion doesn't wait, unless the operator has " +
			"the option `PauseDeletions`.",
	},
	{
		Name:    "PausedUntil",
		Where:   "Paused: True",
		Texts:   []string{"The annotation", "is a time: the resource isn't reconciled before"},
		Meaning: "The operator leaves the resource alone until the time in the annotation.",
		Cause:   "The annotation `operkit.dev/pause-execution` is a time, as `NAME pause --until` sets it.",
		Remedy:  "Wait for that time, or end the pause with `NAME resume RESOURCE`.",
	},
	{
		Name:    "Deleting",
		Where:   "shown by `NAME status`",
		Texts:   []string{"waits for the finalizers"},
		Meaning: "The resource is being deleted, and exists until each of its finalizers is removed.",
		Cause:   "The operator, or the owner of another finalizer, still cleans up, or doesn't run any more.",
		Remedy: "The first line of `NAME status RESOURCE` says what it waits for. See [A deletion that " +
			"hangs](readiness-and-order.md#a-deletion-that-hangs).",
	},
}
