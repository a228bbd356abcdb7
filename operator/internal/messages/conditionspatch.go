package messages

// conditionsPatch are the reasons of the condition of a temporary patch.
var conditionsPatch = []Entry{
	{
		Name:    "Applied",
		Where:   "of a TemporaryPatch, Applied: True",
		Meaning: "The patch has changed an object for each of its places.",
		Cause:   "The target was rendered with this generation of the patch.",
		Remedy:  "Nothing.",
	},
	{
		Name:    "Pending",
		Where:   "of a TemporaryPatch, Applied: Unknown",
		Texts:   []string{"the target hasn't been rendered with this patch yet"},
		Meaning: "It isn't known yet whether the patch fits.",
		Cause: "The target hasn't been reconciled since the patch was created or changed. It may be paused, or wait " +
			"for something.",
		Remedy: "Look at the target with `NAME status`. A paused target has to be resumed.",
	},
	{
		Name:    "Unmatched",
		Where:   "of a TemporaryPatch, Applied: False",
		Texts:   []string{"no object was rendered for"},
		Meaning: "Some places of the patch don't exist: no such component or object was rendered.",
		Cause: "A name in the patch is misspelt, or the component isn't rendered at present, for example because it is " +
			"disabled.",
		Remedy: "Compare the names that the message lists with the output of `NAME render -f FILE`.",
	},
	{
		Name:    "Failed",
		Where:   "of a TemporaryPatch, Applied: False",
		Meaning: "The patch doesn't fit an object that was rendered.",
		Cause:   "It changes a field that the kind doesn't have, a value of another type, or the identity of the object.",
		Remedy: "Correct the place that the message names. `NAME render` with the patch in a file shows the result " +
			"without a cluster.",
	},
	{
		Name:    "Expired",
		Where:   "of a TemporaryPatch, Applied: False",
		Texts:   []string{"expired at"},
		Meaning: "The patch has no effect any more.",
		Cause:   "The time in its `spec.expiresAt` has passed, so it was removed from the target.",
		Remedy:  "Delete the patch, or set a later time in `spec.expiresAt`.",
	},
	{
		Name:    "NoTarget",
		Where:   "of a TemporaryPatch, Applied: False",
		Texts:   []string{"there is no"},
		Meaning: "The resource that the patch names doesn't exist.",
		Cause: "`spec.apiVersion`, `spec.kind` or `spec.name` is wrong, or the resource is in another namespace or was " +
			"deleted.",
		Remedy: "Correct the name, or create the target in the namespace of the patch.",
	},
	{
		Name:    "NotPatchable",
		Where:   "of a TemporaryPatch, Applied: False",
		Texts:   []string{"nobody is known to patch a"},
		Meaning: "No operator patches resources of the kind that the patch names.",
		Cause: "`spec.apiVersion` or `spec.kind` is misspelt, or names a kind that isn't served or that is one of " +
			"Kubernetes itself.",
		Remedy: "Name one of the kinds that the message lists.",
	},
}
