package deploy

import (
	"context"
	"hash/maphash"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// unchanged decides whether an object is as its manifest says: the intent is the one applied last, this manager still
// owns all of its fields, and predecessors own none. needsContent: the decision needs more than the metadata of live.
// recall is a fast path for objects that were decided before. configure calls it, and sends nothing for such an object.
func (t *task) unchanged(wanted, live *unstructured.Unstructured) (unchanged, needsContent bool) {
	if !t.appliedLast(live) || t.inherits(live) {
		return false, false
	}
	content := &knownContent{partial: t.partial, kind: t.in.ref.Kind}
	if t.seen.metadataOnly {
		content.memory = t.memory
	}
	covered := coverage(live, t.fieldManager, wanted.Object, content)
	return covered && !content.needed, covered && content.needed
}

// appliedLast reports whether the intent is the one that was applied last.
func (t *task) appliedLast(live *unstructured.Unstructured) bool {
	return annotation(live, t.hashKey()) == t.in.hash
}

// asWanted returns the state in which the object is as its manifest says: the state that was found unchanged, or the
// result of an apply of the whole intent; nil if there is none.
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

// unchangedKey is a hash of a manifest's name and the settings. It is small because there is one for each object. A
// collision does harm only if manifest, object and version are equal, too.
type unchangedKey uint64

// unchangedState is a state of an object, as the View showed it, in which it was as its manifest says.
type unchangedState struct {
	// manifest is the fingerprint of the manifest, state that of the object's uid and version.
	manifest, state uint64
	// namespace is the namespace of the object.
	namespace string
	byLabel   bool
}

// stateOf returns a hash of the uid and version of an object.
func stateOf(obj *unstructured.Unstructured) uint64 {
	return maphash.Comparable(fingerprintSeed, [2]string{metadataText(obj, "uid"), metadataText(obj, "resourceVersion")})
}

// manifestDepth is how deep a manifest may be nested to be remembered.
const manifestDepth = 100

// fingerprint returns a hash of all settings that decide whether an object is unchanged. It is zero if recall can't be
// used.
func (s settings) fingerprint() uint64 {
	if s.dryRun {
		return 0
	}
	var owner types.UID
	if s.owner != nil {
		owner = s.owner.GetUID()
	}
	return max(maphash.Comparable(fingerprintSeed, struct {
		domain, fieldManager, takeOverFrom, namespace string
		owner                                         types.UID
		strategy                                      Strategy
		adoption                                      Adoption
		controller, labelOwned, notBlocking           bool
	}{
		s.domain, s.fieldManager, strings.Join(s.takeOverFrom, "\x00"), s.namespace, owner, s.strategy, s.adoption,
		s.controller, s.labelOwned, s.notBlocking,
	}), 1)
}

// unchangedKey returns the key for a manifest; ok is false if recall can't be used.
func (s *settings) unchangedKey(ref Ref) (key unchangedKey, ok bool) {
	if s.sum == 0 || ref.Name == "" {
		return 0, false
	}
	return unchangedKey(maphash.Comparable(fingerprintSeed, struct {
		Ref
		settings uint64
	}{ref, s.sum})), true
}

// recall returns the result for a manifest and an object that are the same as when the object was last found unchanged
// or applied, which is the most common case in an operator. If only the object differs, seen is what the View shows of
// it.
func (m *Manager) recall(ctx context.Context, s *settings, obj *unstructured.Unstructured, ref Ref) (result Result, seen seenObject, ok bool) {
	key, ok := s.unchangedKey(ref)
	if !ok {
		return Result{}, seenObject{}, false
	}
	last, ok := m.memory.unchanged.get(key)
	if !ok {
		return Result{}, seenObject{}, false
	}
	if manifest, ok := fingerprint(obj.Object, manifestDepth); !ok || manifest != last.manifest {
		return Result{}, seenObject{}, false
	}
	ref.Namespace = last.namespace
	seen, err := m.see(ctx, s.retryFor, ref)
	if err != nil || seen.object == nil || stateOf(seen.object) != last.state {
		return Result{}, seen, false
	}
	return Result{Ref: ref, Action: Unchanged, Object: seen.object, ByLabel: last.byLabel}, seen, true
}

// remember records for recall a state in which an object is as its manifest says, and deletes the record if state is
// nil.
func (m *Manager) remember(s settings, obj *unstructured.Unstructured, ref Ref, result Result, state *unstructured.Unstructured) {
	key, ok := s.unchangedKey(ref)
	if !ok {
		return
	}
	if state != nil && state.GetResourceVersion() != "" {
		if manifest, ok := fingerprint(obj.Object, manifestDepth); ok {
			m.memory.unchanged.put(key, unchangedState{manifest, stateOf(state), result.Ref.Namespace, result.ByLabel})
			return
		}
	}
	m.memory.unchanged.drop(key)
}

// isState reports whether both are the same state of the same object.
func isState(a, b *unstructured.Unstructured) bool {
	if a == nil || b == nil {
		return false
	}
	return a == b || a.GetUID() == b.GetUID() && a.GetResourceVersion() == b.GetResourceVersion() && a.GetResourceVersion() != ""
}
