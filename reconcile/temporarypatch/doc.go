// +groupName=operkit.dev
// +versionName=v1

// Package temporarypatch lets support staff change what an operator renders for one
// custom resource, without a change of the operator or of the resource's spec.
//
// A [TemporaryPatch] names its target, a resource in the same namespace, and describes changes of objects of the
// target:
//
//	apiVersion: operkit.dev/v1
//	kind: TemporaryPatch
//	metadata: {name: more-memory, namespace: shop}
//	spec:
//	  apiVersion: example.dev/v1
//	  kind: Widget
//	  name: w
//	  patchType: strategic
//	  expiresAt: "2031-01-01T00:00:00Z"
//	  patch:
//	    web:
//	      deployment/web:
//	        spec: {template: {spec: {containers: [{name: web, resources: {limits: {memory: 1Gi}}}]}}}
//
// The keys of the tree are the name of the component and of the object in it, see reconcile.Object; the operator shows
// them with reconcile.NameObjects. The list form, spec.patches, has them as fields. A name with dots may be one key or,
// as in patches for oper8, several nested keys.
//
// # How it works
//
// A [Controller] has two roles. As the reconcile.Controller of TemporaryPatch it keeps one entry for each patch in the
// annotation <domain>/temporary-patches of the target, and changes nothing else there. The entry has the time at which
// the patch was first seen, its kind, and its generation, so that each edit of the patch brings the target to
// reconcile. As the patching.Patcher of the targets it reads that annotation and the patches, and applies them to each
// object before it is deployed. A target that is created later, or loses the entry, gets the entry immediately.
//
//	patches, err := temporarypatch.New(manager, temporarypatch.KindsOf(Guestbook{}))
//	own, err := patches.Reconciler()
//	guestbooks, err := reconcile.New(Guestbook{}, manager, reconcile.WithPatches(patches))
//
// A reconciler of another style passes its objects through patching.Objects.
//
// Patches are applied in the order of spec.priority, then of the time at which they were first recorded, then of their
// names. Later patches win, so the highest priority wins. Bodies are merged by package smp. Objects of Kubernetes' own
// kinds merge by their schemas, and custom resources by their CustomResourceDefinition. If the operator may not read
// the definition, lists are replaced as a whole. A null in a body deletes a field. Send such a TemporaryPatch by create
// or apply: in a merge patch of the TemporaryPatch itself, the null would delete the field of the TemporaryPatch.
//
// # What goes wrong
//
// A patch that doesn't fit an object fails the component that has the object; other components are deployed. The error
// names the patch, the path and the operation. A patch that names another target is ignored with a warning. A patch
// that is gone is ignored with a warning too, and its entry is removed. An expired patch is ignored, and the reconcile
// of the patch removes its entry. An annotation that can't be read is an error of the target: ignoring it would
// silently undo every patch. A dry run of a target removes nothing and reports nothing to patches.
//
// The status of the patch reports the result: the condition Applied, and the names in matched and unmatched. Only the
// reconcile of the target knows the objects. It reports the result in memory, to the Controller, and the next reconcile
// of the patch, at most a minute later, writes it into the status. So no reconcile writes the status of another
// resource, and a target without changes costs no call. The body for an object is reported as unmatched as long as the
// object's component isn't rendered. If patches and targets are reconciled by different processes, Applied stays
// Unknown.
//
// When a patch is deleted, its entry is removed from the target, and then its finalizer is removed. The target is
// rendered without the patch within moments; the status of the target reports that.
//
// # Bad input
//
//	input                                     result
//	spec without apiVersion, kind or name     ConfigError of the patch, naming the fields
//	a kind that nobody can patch              Applied is False, NotPatchable; a kind of another operator is left alone
//	another version of a kind                 ConfigError of the patch, naming the possible versions
//	a target without namespace                ConfigError of the patch
//	both patch and patches, or neither        ConfigError of the patch; the target ignores it
//	an empty patch                            the same as neither
//	a patch that isn't an object              ConfigError of the patch; the target ignores it
//	no such target                            the patch waits (PreconditionWait)
//	an annotation that isn't a JSON object    ConfigError of the patch, Errored for the target
//	an entry without api_version, or no map   corrected by its patch; until then Errored for the target
//	an entry with an invalid timestamp        the patch's creationTimestamp counts
//	an entry of another kind of patch         ignored with a warning, see AlsoReads
//	unknown patchType, body of another type   ConfigError of the target, in one component
//	a path, an element or a key not there     ConfigError of the target, in one component
//
// # When to use it
//
// Use it for an exception that can't wait for a release: a memory limit, an image, a flag. Don't use it for settings
// that belong in the spec of resources. Don't use it permanently: set expiresAt.
package temporarypatch
