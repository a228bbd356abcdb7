package deploy

import (
	"context"
	"hash/maphash"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// settledObjects remembers what was applied or found unchanged, so that the same manifest and the same state of an
// object aren't compared again: an operator does that all day. The zero value is ready for use.
type settledObjects struct {
	mu    sync.RWMutex
	known map[settledKey]settledObject
}

// settledKey is a number for a manifest's name and the settings. There are as many as objects, so they are small; two
// that have the same one by chance would have to have the same manifest, object and version, too.
type settledKey uint64

// settledSettings are all settings on which it depends whether an object is as it should be.
type settledSettings struct {
	domain, fieldManager   string
	takeOverFrom           string
	namespace              string
	owner                  types.UID
	strategy               Strategy
	adoption               Adoption
	controller, labelOwned bool
	notBlocking            bool
}

// settledObject is a state of an object, as the View showed it, that was as its manifest says.
type settledObject struct {
	// manifest and state are numbers for the manifest, and for the object and its version.
	manifest, state uint64
	// namespace is the one that it is in.
	namespace string
	byLabel   bool
}

// stateOf is a number for an object and its version.
func stateOf(uid, version string) uint64 {
	return maphash.Comparable(fingerprintSeed, [2]string{uid, version})
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
	if s.dryRun {
		return 0
	}
	key := settledSettings{domain: s.domain, fieldManager: s.fieldManager, namespace: s.namespace, takeOverFrom: strings.Join(s.takeOverFrom, "\x00"),
		strategy: s.strategy, controller: s.controller, labelOwned: s.labelOwned, notBlocking: s.notBlocking, adoption: s.adoption}
	if s.owner != nil {
		key.owner = s.owner.GetUID()
	}
	return max(maphash.Comparable(fingerprintSeed, key), 1)
}

// settledKey is the key for a manifest; ok is false where it has to be looked at closely.
func (s *settings) settledKey(ref Ref) (key settledKey, ok bool) {
	if s.settledSettings == 0 || ref.Name == "" {
		return 0, false
	}
	return settledKey(maphash.Comparable(fingerprintSeed, struct {
		Ref
		settings uint64
	}{ref, s.settledSettings})), true
}

// settledResult is the result for a manifest and an object that are the same ones as last time. If only the
// object isn't, it is what was seen.
func (m *Manager) settledResult(ctx context.Context, s *settings, obj *unstructured.Unstructured, ref Ref) (result Result, seen glanced, ok bool) {
	key, ok := s.settledKey(ref)
	if !ok {
		return Result{}, glanced{}, false
	}
	m.settled.mu.RLock()
	last, ok := m.settled.known[key]
	m.settled.mu.RUnlock()
	if !ok {
		return Result{}, glanced{}, false
	}
	if manifest, ok := fingerprint(obj.Object, manifestDepth); !ok || manifest != last.manifest {
		return Result{}, glanced{}, false
	}
	ref.Namespace = last.namespace
	seen, err := m.glance(ctx, s.retryFor, ref)
	live := seen.object
	if err != nil || live == nil || stateOf(metadataText(live, "uid"), metadataText(live, "resourceVersion")) != last.state {
		return Result{}, seen, false
	}
	return Result{Ref: ref, Action: Unchanged, Object: live, ByLabel: last.byLabel}, seen, true
}

// remember keeps that an object is as its manifest says in the state seen, and forgets what isn't (nil).
func (m *Manager) remember(s settings, obj *unstructured.Unstructured, ref Ref, result Result, seen *unstructured.Unstructured) {
	key, ok := s.settledKey(ref)
	if !ok {
		return
	}
	settled := seen != nil && seen.GetResourceVersion() != ""
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
	m.settled.known[key] = settledObject{
		manifest: manifest, state: stateOf(string(seen.GetUID()), seen.GetResourceVersion()), namespace: result.Ref.Namespace, byLabel: result.ByLabel,
	}
}

// isState tells whether two are one state of one object.
func isState(a, b *unstructured.Unstructured) bool {
	if a == nil || b == nil {
		return false
	}
	return a == b || a.GetUID() == b.GetUID() && a.GetResourceVersion() == b.GetResourceVersion() && a.GetResourceVersion() != ""
}
