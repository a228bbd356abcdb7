package deploy

import (
	"context"
	"errors"
	"hash/maphash"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// unchanged reports whether an object is unchanged: the last apply was of the same intent, this manager still owns all
// fields of the intent, and predecessors own no fields. needsContent reports that the decision needs more than the
// metadata of live. configure calls unchanged, and sends nothing for an unchanged object. recall is a fast path for
// objects that were found unchanged before.
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

// appliedLast reports whether the last apply was of the same intent.
func (t *task) appliedLast(live *unstructured.Unstructured) bool {
	return annotation(live, t.hashKey()) == t.in.hash
}

// asWanted returns a state in which the object is unchanged: the state that was found unchanged, or the result of an
// apply of the whole intent. It returns nil if result has no such state.
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

// Unchanged reports whether Apply with the same options would send no write for obj, because the object is unchanged or
// its strategy leaves it alone. Unchanged writes nothing. It reads as Apply does: from the View, and from the cluster
// if the View holds only metadata and more is needed. So a rolling update can find out which objects it has to change.
//
// With the strategy Ignore it returns true. Otherwise it returns false for an object that is absent, that is being
// deleted or that belongs to somebody else. It also returns false if only an apply can show that nothing changes, for
// example because the cluster drops a field of obj. The error is not nil if obj is invalid or can't be read.
func (m *Manager) Unchanged(ctx context.Context, obj *unstructured.Unstructured, options ...Option) (bool, error) {
	s, err := m.settings.forCall(options)
	if err != nil {
		return false, err
	}
	s.sum = s.fingerprint()
	ref := refsOf([]*unstructured.Unstructured{obj})[0]
	if _, _, ok := m.recall(ctx, &s, obj, ref); ok {
		return true, nil
	}
	manifest, err := s.contentOf(ctx, obj, ref)
	if err != nil {
		return false, err
	}
	t := task{Manager: m, settings: s, port: m.requests(s)}
	t.port.Port = readOnly{m.port}
	result := t.run(ctx, manifest)
	if result.Action == Unchanged && result.Err == nil && t.in != nil {
		result.ByLabel = t.in.byLabel
		m.remember(s, obj, ref, result, t.asWanted(result))
	}
	switch {
	case result.Err == nil:
		return result.Action == Unchanged || result.Action == Skipped, nil
	case result.Action == Conflicted || errors.Is(result.Err, errReadOnly) || is[*TerminatingError](result.Err):
		return false, nil
	}
	return false, result.Err
}

// unchangedKey is a hash of a manifest's reference and the settings. It is small because there is one for each object.
// A collision does harm only if the manifest, the uid and the resourceVersion are equal, too.
type unchangedKey uint64

// unchangedState is a state in which an object is unchanged.
type unchangedState struct {
	// manifest is the fingerprint of the manifest. state is the hash of the object's uid and resourceVersion.
	manifest, state uint64
	// namespace is the namespace of the object.
	namespace string
	byLabel   bool
}

// stateOf returns a hash of the uid and resourceVersion of an object.
func stateOf(obj *unstructured.Unstructured) uint64 {
	return maphash.Comparable(fingerprintSeed, [2]string{metadataText(obj, "uid"), metadataText(obj, "resourceVersion")})
}

// manifestDepth is how deep a manifest may be nested at most to be remembered.
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
	sum := maphash.Comparable(fingerprintSeed, struct {
		domain, fieldManager, takeOverFrom, namespace string
		owner                                         types.UID
		strategy                                      Strategy
		adoption                                      Adoption
		controller, labelOwned, notBlocking           bool
	}{
		s.domain, s.fieldManager, strings.Join(s.takeOverFrom, "\x00"), s.namespace, owner, s.strategy, s.adoption,
		s.controller, s.labelOwned, s.notBlocking,
	})
	for kind, strategy := range s.kindStrategies { // a sum, because the order differs
		sum += maphash.Comparable(fingerprintSeed, struct {
			schema.GroupKind
			Strategy
		}{kind, strategy})
	}
	return max(sum, 1)
}

// unchangedKey returns the key for a manifest. ok is false if recall can't be used.
func (s *settings) unchangedKey(ref Ref) (key unchangedKey, ok bool) {
	if s.sum == 0 || ref.Name == "" {
		return 0, false
	}
	return unchangedKey(maphash.Comparable(fingerprintSeed, struct {
		Ref
		settings uint64
	}{ref, s.sum})), true
}

// recall returns the result for an object if neither the manifest nor the object has changed since the object was last
// found unchanged or applied. In an operator this is the most common case. If only the object has changed, ok is false,
// and seen is the state that the View shows.
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

// remember records, for recall, a state in which an object is unchanged. If state is nil, it deletes the record.
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

// isState reports whether a and b are the same state of the same object.
func isState(a, b *unstructured.Unstructured) bool {
	if a == nil || b == nil {
		return false
	}
	return a == b || a.GetUID() == b.GetUID() && a.GetResourceVersion() == b.GetResourceVersion() && a.GetResourceVersion() != ""
}
