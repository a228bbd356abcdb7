package messages

// logResources are lines in the log about single resources.
var logResources = []Entry{
	{
		Name:    "status not written",
		Where:   "warning",
		Meaning: "The status of a resource couldn't be written, and writing it again makes no sense.",
		Cause: "The schema refuses it, such as a field with another type than the operator writes, or another program " +
			"sets the same fields again and again.",
		Remedy: "Read `error`. Correct the schema in the CustomResourceDefinition: `status.Fields` of the module " +
			"status has the types.",
	},
	{
		Name:    "status not written: it doesn't say that the resource is paused",
		Where:   "warning",
		Meaning: "A resource is paused, and its status doesn't show that.",
		Cause: "The right to patch its status is missing, the schema refuses the condition, or the API server doesn't " +
			"answer.",
		Remedy: "Read `error`. The pause is in effect in any case.",
	},
	{
		Name:    "a part of the present status can't be used",
		Where:   "warning",
		Meaning: "A part of the status of a resource is invalid. The operator replaces it.",
		Cause:   "Another program, or a person, wrote the status.",
		Remedy:  "Nothing if it is logged once. Otherwise find out who else writes the status.",
	},
	{
		Name:  "the status is too large for the cluster to store: it is shortened",
		Where: "warning",
		Meaning: "The whole status doesn't fit into the object, so messages, and then names of components, are left " +
			"out.",
		Cause:  "There are thousands of components, or their messages are very long.",
		Remedy: "Split the resource into several ones. `reconcile.Status` chooses the parts that are written.",
	},
	{
		Name:    "the CustomResourceDefinition drops fields of the status: add these fields to its schema",
		Where:   "warning",
		Meaning: "The API server has removed fields from a status that was written. `fields` names them.",
		Cause:   "The schema of the kind doesn't have them.",
		Remedy:  "Add them to the CustomResourceDefinition: `status.Fields` of the module status has their schema.",
	},
	{
		Name:    "logging annotations can't be read",
		Where:   "warning",
		Meaning: "An annotation that sets the level of the log for a resource is invalid, and ignored.",
		Cause:   "`log-default-level` names no level, or `log-filters` isn't a list such as `billing:debug,mail:off`.",
		Remedy:  "Correct the annotation that the line names.",
	},
	{
		Name:    "not paused: the annotation is neither true nor a time such as 2030-01-31T18:00:00Z",
		Where:   "warning",
		Meaning: "Somebody wanted to pause a resource. It isn't paused.",
		Cause:   "The value of the annotation `operkit.dev/pause-execution` is misspelt.",
		Remedy:  "`NAME pause RESOURCE`, or `NAME pause RESOURCE --until 2h`.",
	},
	{
		Name:  "finalizing without the files of the version",
		Where: "warning",
		Meaning: "A resource is deleted, and the files of its version can't be read. `Finalize` is called without " +
			"them.",
		Cause: "The version isn't in the repository, or the repository can't be read.",
		Remedy: "Nothing if `Finalize` reads no files. Otherwise restore the version before you delete further " +
			"resources.",
	},
	{
		Name:  "finalizing without the configuration of a ConfigMap that is gone",
		Where: "warning",
		Meaning: "A resource is deleted, and the ConfigMap with its configuration doesn't exist. `Finalize` is called " +
			"with the defaults.",
		Cause:  "The ConfigMap was deleted first, perhaps with its namespace.",
		Remedy: "Nothing, unless `Finalize` needs that configuration: then delete the ConfigMap after the resource.",
	},
	{
		Name:  "finalized without some components: their namespace is being deleted",
		Where: "warning",
		Meaning: "A resource was deleted although components of `Finalize` weren't rolled out. `components` names " +
			"them.",
		Cause:  "Their namespace is being deleted, so nothing can be created in it.",
		Remedy: "Do by hand what these components would have done. Next time delete the resource before its namespace.",
	},
	{
		Name:    "not pruned: the kind isn't rendered any more, and the operator isn't allowed to access it",
		Where:   "warning",
		Meaning: "Objects that no component renders any more may be left over.",
		Cause:   "A new release doesn't render a kind any more, and its role doesn't have the rights to it any more.",
		Remedy:  "Give the operator the rights to this kind for one release, or delete the left-over objects by hand.",
	},
	{
		Name:    "an object is created again each time it has finished",
		Where:   "warning",
		Meaning: "An object has been created again several times after it had finished. `text` names it.",
		Cause: "Something deletes the finished object, mostly `ttlSecondsAfterFinished` of a Job, and the operator " +
			"renders it again.",
		Remedy: "Remove what deletes it from the manifest, or render the object only as long as it is needed.",
	},
	{
		Name: "the right to get, list and watch storageclasses.storage.k8s.io is missing, so it isn't known whether a " +
			"claim waits for a Pod: grant that right by RBAC",
		Where:   "warning",
		Meaning: "An unbound claim counts as not ready, because its StorageClass can't be read. It is logged once.",
		Cause:   "The operator renders claims, and its role doesn't have this right.",
		Remedy:  "Grant get, list and watch on `storageclasses` in the group `storage.k8s.io` by a ClusterRole.",
	},
	{
		Name:    "the rendered component can't be written",
		Where:   "warning",
		Meaning: "The setting `manifests.directory` is set, and a file in that directory can't be written.",
		Cause:   "The directory isn't writable, or its disk is full.",
		Remedy:  "Read `error`. Mount a writable volume there, or take the setting out.",
	},
	{
		Name:    "an event can't be written",
		Where:   "warning",
		Meaning: "A Kubernetes Event couldn't be written. The work isn't affected. It is logged at intervals.",
		Cause:   "The right to create events is missing, or the API server doesn't answer.",
		Remedy:  "Grant create and patch on `events` in the group `events.k8s.io`, or set `events.level` to off.",
	},
	{
		Name:    "the heartbeat is not written",
		Where:   "error",
		Meaning: "The file for `NAME check-heartbeat` isn't written, so a probe that uses it fails.",
		Cause: "A check of the process fails, for example because nothing makes progress, or the file can't be " +
			"written.",
		Remedy: "Read `reason`. For a file, mount a writable volume there.",
	},
	{
		Name:    "Pods require an object that doesn't exist",
		Where:   "warning",
		Meaning: "A Secret or ConfigMap, `requires`, that the Pods of `object` read isn't in their namespace. It is left out of their hash.",
		Cause:   "It isn't created yet, or its name is wrong.",
		Remedy:  "Create it: then the Pods start, once with a new hash. If the Pods can start without it, make the reference optional.",
	},
	{
		Name:    "the deletion hangs",
		Where:   "warning",
		Meaning: "The deletion of a resource still waits after a minute (`watch.recheck`). `reason` says for what.",
		Cause:   "A component of `Finalize` fails or isn't ready, or the finalizer of another controller isn't removed.",
		Remedy: "Remove the cause that `reason` names. See [A deletion that " +
			"hangs](readiness-and-order.md#a-deletion-that-hangs).",
	},
}
