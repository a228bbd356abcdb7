package deploy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Apply applies objects and returns a Result for each of them, in the order of objects. An unchanged object costs no
// call. Namespaces and CustomResourceDefinitions are applied first. The other objects are applied once the new kinds
// are served. Within these steps several objects are applied at once (Concurrency).
//
// If an object fails, the others are still applied, unless StopOnFailure is set. The error joins the errors of the
// results. If objects contains the same object twice, Apply returns an error and sends nothing. When ctx ends, the
// results lack the objects whose work hadn't begun, and the error wraps the cause of ctx.
func (m *Manager) Apply(ctx context.Context, objects []*unstructured.Unstructured, options ...Option) (Results, error) {
	s, err := m.settings.forCall(options)
	if err != nil {
		return nil, err
	}
	return m.apply(ctx, s, objects)
}

func (m *Manager) apply(ctx context.Context, s settings, objects []*unstructured.Unstructured) (Results, error) {
	refs := refsOf(objects)
	if err := s.checkDuplicates(objects, refs); err != nil {
		return nil, err
	}
	s.sum = s.fingerprint()
	return m.applyStages(ctx, s, objects, refs)
}

// refsOf returns the references of the objects, as their manifests name them. The reference of a nil object is empty.
func refsOf(objects []*unstructured.Unstructured) []Ref {
	refs := make([]Ref, len(objects))
	for i, obj := range objects {
		if obj != nil && obj.Object != nil {
			refs[i] = RefOf(obj)
		}
	}
	return refs
}

// checkDuplicates returns an error if objects contains the same object twice, possibly in two versions of its kind.
// refs are the references of the objects.
func (s settings) checkDuplicates(objects []*unstructured.Unstructured, refs []Ref) error {
	versions, home := make(map[memberKey]string, len(refs)), s.home()
	for i, ref := range refs {
		if ref.Name == "" && objects[i] != nil {
			ref.Name = objects[i].GetGenerateName()
		}
		ref.Namespace = cmp.Or(ref.Namespace, home)
		if ref.Name == "" {
			continue
		}
		key := keyOf(ref)
		switch version, twice := versions[key]; {
		case twice && version == ref.Kind.Version:
			return &InvalidManifestError{Ref: ref, Reason: "it is given twice in one set"}
		case twice:
			return &InvalidManifestError{Ref: ref, Reason: fmt.Sprintf("it is given twice in one set, as %s and as %s", version, ref.Kind.Version)}
		}
		versions[key] = ref.Kind.Version
	}
	return nil
}

// task is the work on one object.
type task struct {
	*Manager
	settings
	port requests
	in   *intent
	// seen is the state that the View showed. partial reports that only the metadata of the object is known so far.
	seen    seenObject
	partial bool
	// replaced reports that another process has replaced our intent on the object, see fights.
	replaced bool
	// scaled are the fields of the intent that are left to a scaler.
	scaled []FieldConflict
	// reported are the conflicts that the cluster has reported for the last state that was read.
	reported []FieldConflict
}

func (m *Manager) applyOne(ctx context.Context, s settings, obj *unstructured.Unstructured, ref Ref) Result {
	unchanged, seen, ok := m.recall(ctx, &s, obj, ref)
	if ok {
		return unchanged
	}
	manifest, err := s.contentOf(ctx, obj, ref)
	if err != nil {
		return Result{Ref: ref, Action: Failed, Err: err}
	}
	t := task{Manager: m, settings: s, port: m.requests(s), seen: seen, partial: seen.partial}
	result := t.run(ctx, manifest)
	if t.in != nil && t.in.strategy != Ignore && t.in.strategy != CreateOnly {
		result = t.afterFight(result)
	}
	if result.Action != Created && result.Action != Recreated && result.Action != Removed {
		result.Kept = append(result.Kept, t.scaled...)
	}
	result.Calls = int(t.port.calls.Load())
	result.ByLabel = t.in != nil && t.in.byLabel
	result.Rewritten = t.rewritten(result)
	m.remember(s, obj, ref, result, t.asWanted(result))
	return result
}

func (t *task) run(ctx context.Context, obj *unstructured.Unstructured) Result {
	var err error
	if t.in, err = t.newIntent(ctx, t.settings, obj); err != nil {
		ref := Ref{}
		if obj != nil && obj.Object != nil {
			ref = RefOf(obj)
		}
		return Result{Ref: ref, Action: Failed, Err: err}
	}
	switch t.in.strategy {
	case Ignore:
		return Result{Ref: t.in.ref, Action: Skipped}
	case CreateOnly:
		return t.createOnly(ctx)
	}
	live, err := t.look(ctx, t.in.ref)
	if err == nil && t.in.strategy == Replace {
		live, err = t.complete(ctx, live)
	}
	if err != nil {
		return failure(t.in.ref, err)
	}
	if live == nil {
		return t.create(ctx)
	}
	if t.in.strategy == Replace {
		return t.replace(ctx, live)
	}
	return t.existing(ctx, live)
}

// create applies an object that the View doesn't show, and then checks whether the apply created it. The apply doesn't
// force conflicts: if somebody else has created the object meanwhile, the object keeps its values.
func (t *task) create(ctx context.Context) Result {
	options := ApplyOptions{FieldManager: t.fieldManager, DryRun: t.dryRun, Whole: t.seen.metadataOnly && !t.dryRun && !t.memory.shown.has(t.in.ref.Kind)}
	applied, err := t.port.Apply(ctx, t.in.object, options)
	if err != nil {
		return failure(t.in.ref, err)
	}
	if options.Whole && !applied.Partial {
		applied = t.noteContent(applied)
	}
	// If the response to the first try was lost, the second try finds the object that the first try created.
	applied.Created = applied.Created || t.port.calls.Load() > 1 && t.foreign(applied.Object) == nil
	if applied.Created || t.owner == nil {
		return Result{Ref: t.in.ref, Action: actionOf(applied), Object: applied.Object, Warnings: applied.Warnings}
	}
	if foreign := t.foreign(applied.Object); foreign != nil && t.checkAdoption(*foreign) != nil {
		return t.withdraw(ctx, applied.Object.GetUID(), *foreign)
	}
	return Result{Ref: t.in.ref, Action: Configured, Object: applied.Object, Warnings: applied.Warnings}
}

// noteContent remembers the atomic fields in the result of an apply. It is called if the View has only metadata of the
// kind. It returns the result with only metadata, because the content isn't needed any more.
func (t *task) noteContent(applied Applied) Applied {
	coverage(applied.Object, t.fieldManager, t.in.object.Object, &knownContent{memory: t.memory, kind: t.in.ref.Kind})
	t.memory.shown.put(t.in.ref.Kind, true)
	applied.Object = metadataOf(applied.Object)
	applied.Partial = true
	return applied
}

// metadataOf returns obj with only its metadata.
func metadataOf(obj *unstructured.Unstructured) *unstructured.Unstructured {
	bare := &unstructured.Unstructured{Object: map[string]any{}}
	for _, field := range []string{"apiVersion", "kind", "metadata"} {
		if value, there := obj.Object[field]; there {
			bare.Object[field] = value
		}
	}
	return bare
}

// foreign returns the error for an object that somebody else has created. It returns nil if this manager created the
// object and the View hadn't shown it yet.
func (t *task) foreign(obj *unstructured.Unstructured) *OwnedError {
	owned := &OwnedError{Ref: RefOf(obj)}
	for _, reference := range obj.GetOwnerReferences() {
		if t.owner == nil || reference.UID != t.owner.GetUID() {
			owned.Owner = describeOwner(reference)
		}
	}
	if owned.Owner == "" && !slices.ContainsFunc(managedEntries(obj), func(entry managedEntry) bool {
		return entry.manager() != t.fieldManager && entry["subresource"] == nil && made(obj, entry)
	}) {
		return nil
	}
	return owned
}

// made reports whether the manager of an entry may have created obj: the manager wrote at the time of creation, or owns
// fields outside of metadata. Fields of metadata alone don't count, because any client may add them.
func made(obj *unstructured.Unstructured, entry managedEntry) bool {
	text, _ := entry["time"].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || !at.After(obj.GetCreationTimestamp().Time) {
		return true
	}
	for key := range entry.fields() {
		if key != "f:metadata" {
			return true
		}
	}
	return false
}

func (s settings) checkAdoption(owned OwnedError) error {
	if s.adoption == AdoptAlways || owned.Owner == "" && s.adoption == AdoptUnowned {
		return nil
	}
	return &owned
}

// withdraw applies an empty intent, to remove our fields and our owner reference from an object that somebody else
// created.
func (t *task) withdraw(ctx context.Context, uid types.UID, owned OwnedError) Result {
	nothing := emptyOf(t.in.ref)
	// If the object has been deleted meanwhile, our fields are gone, too. Without the uid the apply would then create
	// an empty object.
	nothing.SetUID(uid)
	_, err := t.port.Apply(ctx, nothing, ApplyOptions{FieldManager: t.fieldManager, DryRun: t.dryRun})
	if err != nil && !t.gone(ctx, uid, err) {
		return Result{Ref: t.in.ref, Action: Conflicted, Err: fmt.Errorf("%w; our fields could not be removed from it: %w", &owned, err)}
	}
	return Result{Ref: t.in.ref, Action: Conflicted, Err: &owned}
}

// gone reports whether a request for the object with that uid failed because the object doesn't exist any more. After a
// conflict it reads the object to find out, because webhooks may return conflicts, too.
func (t *task) gone(ctx context.Context, uid types.UID, err error) bool {
	if !is[*StaleError](err) {
		return is[*NotFoundError](err)
	}
	live, err := t.port.Get(ctx, t.in.ref)
	return err == nil && (live == nil || live.GetUID() != uid)
}

func actionOf(applied Applied) Action {
	if applied.Created {
		return Created
	}
	return Configured
}

func failure(ref Ref, err error) Result {
	if is[*ConflictError](err) || is[*OwnedError](err) {
		return Result{Ref: ref, Action: Conflicted, Err: err}
	}
	return Result{Ref: ref, Action: Failed, Err: err}
}
