package deploy

import (
	"errors"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Manager applies objects to one cluster. It is safe for concurrent use and never changes objects that are passed to
// it. It remembers which fields it took from other managers, and which of its intents other processes replaced (see
// Conflicts). It also remembers which objects it found unchanged, which fields of a kind are owned as a whole, and
// which owners are gone. It keeps no other state.
type Manager struct {
	port     Port
	view     View
	settings settings
	memory   *memory
}

// NewManager returns a Manager for cluster. The options are used for every call, unless an option of the call overrides
// them. NewManager returns an error if cluster is nil or an option is invalid.
func NewManager(cluster Cluster, options ...Option) (*Manager, error) {
	if cluster == nil {
		return nil, errors.New("nil cluster: use deploy/cluster or deploy/dryrun")
	}
	defaults := settings{domain: Domain, fieldManager: "operkit", retryFor: DefaultRetryTime, concurrency: DefaultConcurrency}
	s, err := defaults.with(options)
	if err != nil {
		return nil, err
	}
	return &Manager{port: cluster.Port(), view: cluster.View(), settings: s, memory: &memory{}}, nil
}

// With returns a Manager with the options of m, overridden by options. m and the new Manager share what they remember.
// It returns an error if an option is invalid.
func (m *Manager) With(options ...Option) (*Manager, error) {
	s, err := m.settings.with(options)
	if err != nil {
		return nil, err
	}
	other := *m
	other.settings = s
	return &other, nil
}

// View returns the View of the cluster.
func (m *Manager) View() View { return m.view }

// Port returns the Port of the cluster.
func (m *Manager) Port() Port { return m.port }

// FieldManager returns the name under which this Manager owns fields.
func (m *Manager) FieldManager() string { return m.settings.fieldManager }

// KeyDomain returns the domain of this Manager's annotations and labels.
func (m *Manager) KeyDomain() string { return m.settings.domain }

// hashKey returns the annotation that holds the hash of the last applied intent. The key contains the manager's name,
// so that two managers of one object don't overwrite each other's hash. The part of a key after the slash is limited to
// 63 characters.
func (s settings) hashKey() string {
	const prefix, limit = "applied-", 63
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '-'
	}, s.fieldManager)
	if name != s.fieldManager || len(prefix)+len(name) > limit || strings.HasSuffix(name, "-") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, "_") {
		sum := hashString(s.fieldManager)
		name = name[:min(len(name), limit-len(prefix)-len(sum)-1)] + "-" + sum
	}
	return s.domain + "/" + prefix + name
}

// memory is what a Manager remembers. It is shared with the Managers that With derives from it. Everything except the
// fights can be found out again, so it may be dropped at any time.
type memory struct {
	fights fights
	// unchanged are states of objects that were found unchanged.
	unchanged bounded[unchangedKey, unchangedState]
	// atomic are the maps and lists that are owned as a whole. shown are the kinds of which the content of at least one
	// object was seen.
	atomic bounded[atomicField, bool]
	shown  bounded[schema.GroupVersionKind, bool]
	// formerOwners are the uids of owners that are gone. A uid is never used again.
	formerOwners bounded[types.UID, bool]
}

// maxRemembered bounds each part of a memory.
const maxRemembered = 1 << 17

// bounded is a map that forgets everything when it is full. The zero value is ready for use; it is safe for concurrent
// use.
type bounded[K comparable, V any] struct {
	mu   sync.RWMutex
	held map[K]V
}

func (b *bounded[K, V]) get(key K) (value V, ok bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	value, ok = b.held[key]
	return value, ok
}

func (b *bounded[K, V]) has(key K) bool {
	_, ok := b.get(key)
	return ok
}

func (b *bounded[K, V]) put(key K, value V) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held == nil || len(b.held) >= maxRemembered {
		b.held = map[K]V{}
	}
	b.held[key] = value
}

func (b *bounded[K, V]) drop(key K) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.held, key)
}
