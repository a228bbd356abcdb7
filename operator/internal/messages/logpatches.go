package messages

// logPatches are lines in the log about temporary patches.
var logPatches = []Entry{
	{
		Name:    "temporary patch ignored",
		Where:   "warning",
		Meaning: "A temporary patch has no effect. The attribute `error` or `reason` says why.",
		Cause:   "Its spec is invalid, or it has expired.",
		Remedy:  "Correct the patch. Its status has the same message.",
	},
	{
		Name:    "temporary patch ignored: the operator doesn't read patches of this kind",
		Where:   "warning",
		Meaning: "An entry in the annotation of a resource names a patch of a kind that the operator doesn't know.",
		Cause:   "Somebody edited the annotation by hand, or another operator with another kind of patches wrote it.",
		Remedy:  "Remove the entry, or name the kind by an option of `operator.TemporaryPatches`.",
	},
	{
		Name:  "temporary patch ignored: its kind isn't served",
		Where: "warning",
		Meaning: "The CustomResourceDefinition of temporary patches isn't installed, and a resource still names a " +
			"patch.",
		Cause:  "The definition was deleted.",
		Remedy: "Install it again. Otherwise remove the entry from the annotation of the resource.",
	},
	{
		Name:    "temporary patch ignored: it is gone",
		Where:   "warning",
		Meaning: "A resource names a patch that doesn't exist any more. The operator removes the entry.",
		Cause:   "The patch was deleted while its finalizer didn't hold it, for example by hand.",
		Remedy:  "Nothing.",
	},
	{
		Name:    "temporary patch ignored: it names another target",
		Where:   "warning",
		Meaning: "A resource has an entry for a patch whose spec names another resource.",
		Cause:   "`spec.name` or `spec.kind` of the patch was changed, or the annotation was copied with the resource.",
		Remedy:  "Correct the patch, or remove the entry from the annotation.",
	},
	{
		Name:    "temporary patch ignored: it is paused",
		Where:   "warning",
		Meaning: "`NAME render` leaves a patch out.",
		Cause:   "The patch has the annotation `operkit.dev/pause-execution`.",
		Remedy:  "Remove the annotation from the file to see the effect of the patch.",
	},
	{
		Name:  "the entry of a deleted temporary patch can't be removed",
		Where: "warning",
		Meaning: "The annotation of a resource still names a patch that is gone. The patch has no effect. It is tried " +
			"again.",
		Cause:  "The right to patch the resource is missing, or somebody else changed it at the same moment.",
		Remedy: "Read `error`. Grant patch on the kind if it is missing.",
	},
	{
		Name:  "CustomResourceDefinitions can't be read: patches of custom resources replace lists as a whole",
		Where: "warning",
		Meaning: "The operator doesn't know the schema of a custom resource, so a patch of a list replaces the whole " +
			"list.",
		Cause:  "The right to list `customresourcedefinitions` is missing.",
		Remedy: "Grant get, list and watch on it by a ClusterRole, or write the whole list into the patch.",
	},
	{
		Name:    "temporary patches aren't available yet",
		Where:   "warning, info",
		Meaning: "Temporary patches have no effect. The operator works without them, and looks again.",
		Cause: "Their CustomResourceDefinition isn't installed, or the operator lacks rights to them. `reason` names " +
			"these.",
		Remedy: "Install the definition and grant the rights, or switch patches off by " +
			"`operator.WithoutTemporaryPatches`.",
	},
}
