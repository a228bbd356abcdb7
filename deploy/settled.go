package deploy

import (
	"context"
	"hash/maphash"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// settledObjects remembers what was found unchanged, so that the same manifest and the same state of an
// object aren't compared again: an operator does that all day. The zero value is ready for use.
type settledObjects struct {
	mu    sync.RWMutex
	known map[settledKey]settledObject
}

// settledKey is a manifest's name and the number of the settings.
type settledKey struct {
	ref      Ref
	settings uint64
}

// settledSettings are all settings on which it depends whether an object is as it should be.
type settledSettings struct {
	domain, fieldManager   string
	namespace              string
	owner                  types.UID
	strategy               Strategy
	adoption               Adoption
	controller, labelOwned bool
	notBlocking            bool
}

// settledObject is a state of an object, as the View showed it, that was as its manifest says.
type settledObject struct {
	manifest uint64
	ref      Ref
	byLabel  bool
	uid      types.UID
	version  string
}

const (
	// maxSettled bounds what is remembered.
	maxSettled = 1 << 17
	// manifestDepth is how deep manifests may be nested to be remembered.
	manifestDepth = 100
)

// settledBy is a number for the settings: equal ones have the same, others practically never. It is zero
// where every object has to be looked at closely.
func (s settings) settledBy() uint64 {
	if s.dryRun || len(s.takeOverFrom) > 0 {
		return 0
	}
	key := settledSettings{domain: s.domain, fieldManager: s.fieldManager, namespace: s.namespace,
		strategy: s.strategy, controller: s.controller, labelOwned: s.labelOwned, notBlocking: s.notBlocking, adoption: s.adoption}
	if s.owner != nil {
		key.owner = s.owner.GetUID()
	}
	return max(maphash.Comparable(fingerprintSeed, key), 1)
}

// settledKey is the key for a manifest; ok is false where it has to be looked at closely.
func (s settings) settledKey(obj *unstructured.Unstructured) (key settledKey, ok bool) {
	if s.settledSettings == 0 || obj == nil || obj.Object == nil {
		return key, false
	}
	key = settledKey{RefOf(obj), s.settledSettings}
	return key, key.ref.Name != ""
}

// settledResult is the result for a manifest and an object that are the same ones as last time.
func (t *task) settledResult(ctx context.Context, obj *unstructured.Unstructured) (Result, bool) {
	key, ok := t.settledKey(obj)
	if !ok {
		return Result{}, false
	}
	t.settled.mu.RLock()
	last, ok := t.settled.known[key]
	t.settled.mu.RUnlock()
	if !ok {
		return Result{}, false
	}
	if manifest, ok := fingerprint(obj.Object, manifestDepth); !ok || manifest != last.manifest {
		return Result{}, false
	}
	live, err := t.look(ctx, last.ref)
	if err != nil || live == nil || live.GetResourceVersion() != last.version || live.GetUID() != last.uid {
		return Result{}, false
	}
	return Result{Ref: last.ref, Action: Unchanged, Object: live, ByLabel: last.byLabel}, true
}

// remember keeps that seen, what the View showed, was found unchanged, be it by asking the cluster; and
// forgets what wasn't.
func (m *Manager) remember(s settings, obj *unstructured.Unstructured, result Result, seen *unstructured.Unstructured) {
	key, ok := s.settledKey(obj)
	if !ok {
		return
	}
	settled := result.Action == Unchanged && result.Err == nil && len(result.Kept) == 0 && isState(result.Object, seen) && seen.GetResourceVersion() != ""
	var manifest uint64
	if settled { // only then it is worth its time
		manifest, settled = fingerprint(obj.Object, manifestDepth)
	}
	m.settled.mu.Lock()
	defer m.settled.mu.Unlock()
	if !settled {
		delete(m.settled.known, key)
		return
	}
	if m.settled.known == nil || len(m.settled.known) >= maxSettled {
		m.settled.known = map[settledKey]settledObject{}
	}
	m.settled.known[key] = settledObject{manifest: manifest, ref: result.Ref, byLabel: result.ByLabel, uid: seen.GetUID(), version: seen.GetResourceVersion()}
}

// isState tells whether two are one state of one object.
func isState(a, b *unstructured.Unstructured) bool {
	if a == nil || b == nil {
		return false
	}
	return a == b || a.GetUID() == b.GetUID() && a.GetResourceVersion() == b.GetResourceVersion() && a.GetResourceVersion() != ""
}
