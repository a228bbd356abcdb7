package deploy

import (
	"context"
	"hash/maphash"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// unchanged is where it is decided that an object is as its manifest says: the intent is the one applied last, nobody
// has touched a field of it, and predecessors own nothing more. needsContent: of live more than the metadata has to be
// seen to tell. recall is a fast path of this for what was decided before.
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

// asWanted is the state of the object in which it is as its manifest says: what was looked at and found unchanged, or
// the answer to an apply of all of it; nil if there is none.
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

// unchangedKey is a number for a manifest's name and the settings. There are as many as objects, so they are small; two
// that have the same one by chance would have to have the same manifest, object and version, too.
type unchangedKey uint64

// unchangedState is a state of an object, as the View showed it, that was as its manifest says.
type unchangedState struct {
	// manifest and state are numbers for the manifest, and for the object and its version.
	manifest, state uint64
	// namespace is the one that it is in.
	namespace string
	byLabel   bool
}

// stateOf is a number for an object and its version.
func stateOf(obj *unstructured.Unstructured) uint64 {
	return maphash.Comparable(fingerprintSeed, [2]string{metadataText(obj, "uid"), metadataText(obj, "resourceVersion")})
}

// manifestDepth is how deep manifests may be nested to be remembered.
const manifestDepth = 100

// fingerprint is a number for all settings on which it depends whether an object is as it should be: equal ones have
// the same, others practically never. It is zero where every object has to be looked at closely.
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

// unchangedKey is the key for a manifest; ok is false where it has to be looked at closely.
func (s *settings) unchangedKey(ref Ref) (key unchangedKey, ok bool) {
	if s.sum == 0 || ref.Name == "" {
		return 0, false
	}
	return unchangedKey(maphash.Comparable(fingerprintSeed, struct {
		Ref
		settings uint64
	}{ref, s.sum})), true
}

// recall returns the result for a manifest and an object that are the same ones as when the object was found unchanged,
// or applied, last: an operator looks at them all day. If only the object isn't the same, seen is what the View shows
// of it.
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

// remember keeps for recall that an object is as its manifest says in a state, and forgets what isn't (nil).
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

// isState reports whether two are one state of one object.
func isState(a, b *unstructured.Unstructured) bool {
	if a == nil || b == nil {
		return false
	}
	return a == b || a.GetUID() == b.GetUID() && a.GetResourceVersion() == b.GetResourceVersion() && a.GetResourceVersion() != ""
}
