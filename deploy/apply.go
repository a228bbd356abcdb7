package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Apply makes the cluster hold objects as they are given, and tells for each what became of it. An
// object that is as it should be costs no call. Namespaces and CustomResourceDefinitions come
// first, and what needs them once they are served; within that several objects are worked on at once
// (Concurrency). The results stand in the order of objects.
//
// A failed object doesn't keep the others from being applied, see StopOnFailure; the error joins those
// of the results. The same object twice in one call is an error before anything is sent. When ctx
// ends, objects that weren't begun are missing from the results, and its cause is in the error.
func (m *Manager) Apply(ctx context.Context, objects []*unstructured.Unstructured, options ...Option) (Results, error) {
	s, err := m.settings.forCall(options)
	if err != nil {
		return nil, err
	}
	refs := refsOf(objects)
	if err := s.checkDuplicates(objects, refs); err != nil {
		return nil, err
	}
	s.settledSettings = s.settledBy()
	return m.applyStages(ctx, s, objects, refs)
}

// refsOf are the names that objects say, empty ones for what is none.
func refsOf(objects []*unstructured.Unstructured) []Ref {
	refs := make([]Ref, len(objects))
	for i, obj := range objects {
		if obj != nil && obj.Object != nil {
			refs[i] = RefOf(obj)
		}
	}
	return refs
}

// checkDuplicates refuses one object in two places, be it in two versions of its kind. refs are the names that the
// objects say.
func (s settings) checkDuplicates(objects []*unstructured.Unstructured, refs []Ref) error {
	type place struct{ namespace, name string }
	// latest is the last object of a place so far, before the one before it there; both count from 1.
	latest, before := make(map[place]int, len(refs)), make([]int, len(refs)+1)
	home := s.home()
	full := func(ref Ref, obj *unstructured.Unstructured) Ref {
		if ref.Name == "" && obj != nil {
			ref.Name = obj.GetGenerateName()
		}
		if ref.Namespace == "" {
			ref.Namespace = home
		}
		return ref
	}
	for i, ref := range refs {
		if ref = full(ref, objects[i]); ref.Name == "" {
			continue
		}
		at := place{ref.Namespace, ref.Name}
		before[i+1], latest[at] = latest[at], i+1
		for at := before[i+1]; at > 0; at = before[at] {
			other := full(refs[at-1], objects[at-1])
			switch {
			case other.Kind.GroupKind() != ref.Kind.GroupKind():
			case other == ref:
				return &InvalidManifestError{Ref: ref, Reason: "it is given twice in one set"}
			default:
				return &InvalidManifestError{Ref: ref, Reason: fmt.Sprintf("it is given twice in one set, as %s and as %s", other.Kind.Version, ref.Kind.Version)}
			}
		}
	}
	return nil
}

// task is the work on one object.
type task struct {
	*Manager
	settings
	port requests
	in   *intent
	// seen is what the View showed; partial tells that of the object nothing but metadata is known yet.
	seen    glanced
	partial bool
	// replaced: the intent on the object is that of a rival, see rivals.
	replaced bool
	// scaled are the fields of the intent that are left to a scaler.
	scaled []FieldConflict
	// reported are the contested fields that the cluster has reported of the state that was seen.
	reported []FieldConflict
}

func (m *Manager) applyOne(ctx context.Context, s settings, obj *unstructured.Unstructured, ref Ref) Result {
	settled, seen, ok := m.settledResult(ctx, &s, obj, ref)
	if ok {
		return settled
	}
	manifest, err := s.contentOf(ctx, obj, ref)
	if err != nil {
		return Result{Ref: ref, Action: Failed, Err: err}
	}
	t := task{Manager: m, settings: s, port: m.requests(s), seen: seen, partial: seen.partial}
	result := t.run(ctx, manifest)
	if t.in != nil && t.in.strategy != Ignore && t.in.strategy != CreateOnly {
		result = t.afterRival(result)
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

// asWanted is the state of the object in which it is as its manifest says: what was looked at and found unchanged, or the
// answer to an apply of all of it; nil if there is none.
func (t *task) asWanted(result Result) *unstructured.Unstructured {
	switch {
	case result.Err != nil || len(result.Kept) > 0:
		return nil
	case result.Object != nil && t.inherits(result.Object):
		return nil
	case result.Action == Unchanged && isState(result.Object, t.seen.object):
		return t.seen.object
	case (result.Action == Created || result.Action == Configured) && t.in.strategy == ServerSideApply:
		return result.Object
	}
	return nil
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
		return Result{Ref: t.in.ref, Action: Failed, Err: err}
	}
	if live == nil {
		return t.create(ctx)
	}
	if t.in.strategy == Replace {
		return t.replace(ctx, live)
	}
	return t.existing(ctx, live)
}

// create applies an object that is believed to be absent: without force, so that an object
// that somebody made meanwhile loses nothing, and with a look at whether it was created.
func (t *task) create(ctx context.Context) Result {
	options := ApplyOptions{FieldManager: t.fieldManager, DryRun: t.dryRun, Whole: t.seen.bare && !t.dryRun && t.wholes.wants(t.in.ref.Kind)}
	applied, err := t.port.Apply(ctx, t.in.object, options)
	if err != nil {
		return failure(t.in.ref, err)
	}
	if options.Whole && !applied.Partial {
		applied = t.learn(applied)
	}
	// A second try finds what the first one made without being answered.
	applied.Created = applied.Created || t.port.calls.Load() > 1 && t.foreign(applied.Object) == nil
	if applied.Created || t.owner == nil {
		return Result{Ref: t.in.ref, Action: actionOf(applied), Object: applied.Object, Warnings: applied.Warnings}
	}
	if foreign := t.foreign(applied.Object); foreign != nil && t.checkAdoption(*foreign) != nil {
		return t.withdraw(ctx, applied.Object.GetUID(), *foreign)
	}
	return Result{Ref: t.in.ref, Action: Configured, Object: applied.Object, Warnings: applied.Warnings}
}

// learn takes from the answer to an apply, of a kind of which the View has only metadata, what is to be known of the kind, and
// returns it without what isn't needed any more.
func (t *task) learn(applied Applied) Applied {
	by := &sight{wholes: t.wholes, kind: t.in.ref.Kind}
	coverage(applied.Object, t.fieldManager, t.in.object.Object, by)
	t.wholes.show(t.in.ref.Kind)
	applied.Object = metadataOf(applied.Object)
	applied.Partial = true
	return applied
}

// metadataOf is obj without anything but its metadata.
func metadataOf(obj *unstructured.Unstructured) *unstructured.Unstructured {
	bare := &unstructured.Unstructured{Object: map[string]any{}}
	for _, field := range []string{"apiVersion", "kind", "metadata"} {
		if value, there := obj.Object[field]; there {
			bare.Object[field] = value
		}
	}
	return bare
}

// foreign returns the owners that obj has beside ours when somebody else has made it, nil
// when it is all ours (an own write that the view hadn't shown).
func (t *task) foreign(obj *unstructured.Unstructured) *OwnedError {
	owned := &OwnedError{Ref: RefOf(obj)}
	for _, reference := range obj.GetOwnerReferences() {
		if t.owner == nil || reference.UID != t.owner.GetUID() {
			owned.Owner = describeOwner(reference)
		}
	}
	if owned.Owner == "" && !slices.ContainsFunc(managedEntries(obj), func(entry map[string]any) bool {
		return entry["manager"] != t.fieldManager && entry["subresource"] == nil && made(obj, entry)
	}) {
		return nil
	}
	return owned
}

// made tells whether the manager of an entry may have made obj: it wrote when that came to be, or holds
// more of it than marks in its metadata, which anybody puts onto anything.
func made(obj *unstructured.Unstructured, entry map[string]any) bool {
	text, _ := entry["time"].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || !at.After(obj.GetCreationTimestamp().Time) {
		return true
	}
	fields, _ := entry["fieldsV1"].(map[string]any)
	for key := range fields {
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

// withdraw takes our fields, the owner reference among them, off an object that turned out
// to be somebody else's: an apply of nothing gives up all that our manager held.
func (t *task) withdraw(ctx context.Context, uid types.UID, owned OwnedError) Result {
	nothing := &unstructured.Unstructured{}
	nothing.SetGroupVersionKind(t.in.ref.Kind)
	nothing.SetNamespace(t.in.ref.Namespace)
	nothing.SetName(t.in.ref.Name)
	// What others delete meanwhile takes our fields along. Without the uid it would be made anew, with nothing in it.
	nothing.SetUID(uid)
	_, err := t.port.Apply(ctx, nothing, ApplyOptions{FieldManager: t.fieldManager, DryRun: t.dryRun})
	if err != nil && !t.gone(ctx, uid, err) {
		return Result{Ref: t.in.ref, Action: Conflicted, Err: fmt.Errorf("%w; and giving it back failed: %w", &owned, err)}
	}
	return Result{Ref: t.in.ref, Action: Conflicted, Err: &owned}
}

// gone tells whether a request for the object of that uid failed because it isn't there any more. A conflict alone doesn't
// say so: webhooks answer one as well.
func (t *task) gone(ctx context.Context, uid types.UID, err error) bool {
	var stale *StaleError
	if !errors.As(err, &stale) {
		return isNotFound(err)
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
	var conflict *ConflictError
	if errors.As(err, &conflict) {
		return Result{Ref: ref, Action: Conflicted, Err: err}
	}
	return Result{Ref: ref, Action: Failed, Err: err}
}
