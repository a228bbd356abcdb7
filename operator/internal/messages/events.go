package messages

// events are the reasons of Kubernetes Events.
var events = []Entry{
	{
		Name:    "Created",
		Where:   "Normal",
		Meaning: "The operator created objects of a component. The note names them.",
		Cause:   "The component was rolled out for the first time, or somebody deleted its objects.",
		Remedy:  "Nothing.",
	},
	{
		Name:    "Changed",
		Where:   "Normal",
		Meaning: "The operator changed, replaced or recreated objects of a component. The note names them.",
		Cause:   "What the operator renders has changed, or somebody changed a field that the operator owns.",
		Remedy: "Nothing. If it comes again and again, find out who else writes the object: `kubectl get -o yaml " +
			"--show-managed-fields`.",
	},
	{
		Name:    "Rewritten",
		Where:   "Normal",
		Texts:   []string{"otherwise than applied"},
		Meaning: "The cluster stored other values than the operator applied.",
		Cause:   "Admission, such as a webhook, or the API server itself normalised the values that the note lists.",
		Remedy:  "Render the values as the cluster stores them, or exempt the object from the webhook.",
	},
	{
		Name:    "Deleted",
		Where:   "Normal",
		Meaning: "The operator deleted objects.",
		Cause:   "No component renders them any more, or their component is disabled.",
		Remedy:  "Nothing.",
	},
	{
		Name:    "Kept",
		Where:   "Warning",
		Texts:   []string{"kept although no component renders it any more, because deleting it would lose data"},
		Meaning: "Objects that no component renders any more were not deleted.",
		Cause: "They hold data, such as a PersistentVolumeClaim, and the operator deletes such kinds only if it was " +
			"told to.",
		Remedy: "Delete them yourself, or have the operator prune their kind by the option `reconcile.Prunes`.",
	},
	{
		Name:    "Contested",
		Where:   "Warning",
		Meaning: "Fields of an object are left to another manager, or the object isn't written for a while.",
		Cause: "The other manager sets the fields back each time after the operator has applied them, or the operator " +
			"is installed twice.",
		Remedy: "Let only one of the two managers set them. [ConflictError](#deployconflicterror) has the ways to do " +
			"that.",
	},
	{
		Name:    "MadeAnew",
		Where:   "Warning",
		Texts:   []string{"after it had finished"},
		Meaning: "An object is created again each time it has finished.",
		Cause: "Something deletes the finished object, mostly `ttlSecondsAfterFinished` of a Job, and the operator " +
			"renders it again.",
		Remedy: "Remove what deletes it from the manifest, or render the object only as long as it is needed.",
	},
	{
		Name:    "Ready",
		Where:   "Normal",
		Texts:   []string{"all components are ready"},
		Meaning: "All components of the resource have become ready.",
		Cause:   "A rollout has ended, or an object has recovered.",
		Remedy:  "Nothing.",
	},
	{
		Name:    "Finalized",
		Where:   "Normal",
		Texts:   []string{"nothing is left to be finalized"},
		Meaning: "The cleanup before the deletion is done, so the resource is deleted.",
		Cause:   "Somebody deleted the resource, and all components of `Finalize` are ready.",
		Remedy:  "Nothing.",
	},
	{
		Name:    "Unfinished",
		Where:   "Warning",
		Texts:   []string{"not rolled out, because a namespace is being deleted"},
		Meaning: "The resource is deleted although components of `Finalize` weren't rolled out. The note names them.",
		Cause:   "Their namespace is being deleted too, so nothing can be created in it.",
		Remedy: "Do by hand what these components would have done, if it still matters. Next time delete the resource " +
			"before its namespace.",
	},
	{
		Name:    "DeletionHangs",
		Where:   "Warning",
		Texts:   []string{"the deletion hangs"},
		Meaning: "The deletion of the resource still waits after a minute (`watch.recheck`). The note says for what.",
		Cause:   "A component of `Finalize` fails or isn't ready, or the finalizer of another controller isn't removed.",
		Remedy: "Remove the cause that the note names. See [A deletion that " +
			"hangs](readiness-and-order.md#a-deletion-that-hangs).",
	},
	{
		Name:    "DaemonAbandoned",
		Where:   "Warning",
		Meaning: "A daemon didn't return after it was stopped. The note has its id. Nothing waits for it any more.",
		Cause:   "Its code doesn't look at its context, or needs longer than its `Grace` to end.",
		Remedy: "Return when the context ends, for example by `Request.Sleep`, or give the daemon a longer `handlers.Grace`. " +
			"Only a restart of the operator ends its goroutine.",
	},
	{
		Name:    "HandlerFailed",
		Where:   "Warning",
		Meaning: "An attempt of a handler failed. The note has its id and the error. It is called again after a time.",
		Cause:   "The error says why.",
		Remedy:  "Nothing, if it goes away. Otherwise correct what the error names.",
	},
	{
		Name:    "HandlerGivenUp",
		Where:   "Warning",
		Meaning: "A handler has failed for good. The note has its id and the error. It isn't called until the object changes.",
		Cause:   "`MaxAttempts` or `Within` is reached, or the error is permanent.",
		Remedy:  "Correct what the error names, and then change the object.",
	},
	{
		Name:    "ChildAdopted",
		Where:   "Normal",
		Meaning: "Objects got the parent as their controller. The note names the first ones.",
		Cause:   "They have no owner, and the `Adopts` of the operator selects them, or they had lost the parent as their owner.",
		Remedy:  "Nothing. Remove the labels that `Adopts` selects to leave an object alone.",
	},
	{
		Name:    "ChildReleased",
		Where:   "Normal",
		Meaning: "Objects that were adopted aren't children of the parent any more. The note names the first ones.",
		Cause:   "The `Adopts` of the operator doesn't select their labels any more.",
		Remedy:  "Nothing.",
	},
	{
		Name:    "ChildCreated",
		Where:   "Normal",
		Meaning: "Children of the parent were created. The note names the first ones.",
		Cause:   "The function of the parent wants them, and they didn't exist.",
		Remedy:  "Nothing.",
	},
	{
		Name:    "ChildChanged",
		Where:   "Normal",
		Meaning: "Children of the parent were changed in place. The note names the first ones.",
		Cause:   "The function of the parent wants something else, or somebody else had changed them.",
		Remedy:  "Nothing, unless it comes again and again: then find out who else changes them by their `managedFields`.",
	},
	{
		Name:    "ChildRecreated",
		Where:   "Normal",
		Meaning: "Children of the parent were deleted and created again. The note names the first ones.",
		Cause:   "The function of the parent wants something else, and the strategy of their kind recreates.",
		Remedy:  "Nothing.",
	},
	{
		Name:    "ChildDeleted",
		Where:   "Normal",
		Meaning: "Children of the parent were deleted. The note names the first ones.",
		Cause:   "The function of the parent doesn't want them any more, or they are about to be created again.",
		Remedy:  "Nothing.",
	},
	{
		Name:  "SyncFailed",
		Where: "Warning",
		Meaning: "A function of the parent failed or returned something that is no status, or what it needs couldn't be read. " +
			"The children stay as they are.",
		Cause:  "The note has the error.",
		Remedy: "Correct what the error names. It is tried again, unless it is permanent: then when something changes.",
	},
	{
		Name:    "ChildRefused",
		Where:   "Warning",
		Meaning: "The function of the parent returned children that the parent can't have. No child was changed.",
		Cause:   "The note names each of them, and what is wrong with it, see [desired.ChildError](#desiredchilderror).",
		Remedy:  "Correct the function, or what it is computed from.",
	},
	{
		Name:    "ChildFailed",
		Where:   "Warning",
		Meaning: "Children of the parent couldn't be applied, adopted, released or deleted. Others were, as far as possible.",
		Cause:   "The note has the errors, such as values that the cluster refuses, or a missing right.",
		Remedy:  "Correct what the errors name.",
	},
	{
		Name:  "ObjectUnreadable",
		Where: "Warning",
		Meaning: "The Go type of the handlers can't hold the object. The note names the field. No handler is called for the object, " +
			"also not for its deletion.",
		Cause:  "The object has a value of another form than the type, such as text where the type has a number.",
		Remedy: "Correct the object, or the type. Let the schema of the kind refuse such objects.",
	},
	{
		Name:    "WatcherFailed",
		Where:   "Warning",
		Meaning: "A call of a watcher failed. The note has its name and the error. It is repeated after a time.",
		Cause:   "The error says why.",
		Remedy:  "Nothing, if it goes away. Otherwise correct what the error names.",
	},
	{
		Name:    "WatcherGivenUp",
		Where:   "Warning",
		Meaning: "A call of a watcher failed, and isn't repeated until something happens. The note has its name and the error.",
		Cause:   "The retry policy allows no further try, or the error is permanent.",
		Remedy:  "Correct what the error names, and then change the object, or force a reconcile by the command trigger.",
	},
	{
		Name:    "CertificateReplaced",
		Where:   "Warning",
		Texts:   []string{"replaced the certificate that the operator didn't issue"},
		Meaning: "Somebody else had stored a certificate in a Secret of the operator, and the operator replaced it.",
		Cause:   "The note says what was wrong: the certificate was damaged, expired, not valid for all names, or issued by a CA that is being replaced.",
		Remedy: "Nothing, if the certificate of the operator will do. Otherwise store one that is valid for all names " +
			"that the note lists, with its key.",
	},
	{
		Name:    "ForeignCertificate",
		Where:   "Warning",
		Texts:   []string{"the certificate was stored by hand and is kept, but its CA isn't in ca.crt"},
		Meaning: "Somebody else has stored a certificate in a Secret of the operator. It is used.",
		Cause:   "The certificate is valid for the names, but was issued by a CA that isn't the resource's own.",
		Remedy: "Nothing, if all peers trust that CA. Otherwise delete the Secret: the operator then issues a " +
			"certificate of its own.",
	},
	{
		Name:    "CAReplacement",
		Where:   "Normal",
		Texts:   []string{"the replacement of the CA has reached the stage"},
		Meaning: "A CA is replaced by a new one in stages: Trusting, Reissuing, Steady.",
		Cause:   "Two thirds of its life have passed, or the annotation `operkit.dev/renew` asks for it.",
		Remedy: "Nothing. Programs that read their certificates only at their start have to be restarted in the stage " +
			"Reissuing.",
	},
	{
		Name:    "CAReplacementForced",
		Where:   "Warning",
		Texts:   []string{"has ended without its wait, because a CA is near the end of its life"},
		Meaning: "A stage of the replacement of a CA has ended although not all programs were known to have read their Secrets.",
		Cause:   "A component that the note lists wasn't ready for years, or the operator was away while the CA expired.",
		Remedy:  "Restart programs of these components that report errors of certificates.",
	},
	{
		Name:    "CAReplacementWaits",
		Where:   "Warning",
		Texts:   []string{"the replacement of the CA waits in the stage"},
		Meaning: "A stage of the replacement of a CA hasn't ended yet, because programs may not have read their Secrets.",
		Cause:   "One of the components that the note lists isn't ready. The condition `Ready` of the resource says why.",
		Remedy:  "Make the component ready. Until then the old CA stays trusted, and certificates are renewed.",
	},
}
