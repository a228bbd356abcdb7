package deploy

import (
	"errors"
	"strings"
)

// Manager puts objects into one cluster. It is safe for concurrent use; objects given to it are
// never changed. All it remembers is which fields it took from whom and who replaced its intents, see Conflicts,
// which objects it found to be as they should be, which fields of a kind are owned as a whole, and which owners it
// found to be gone.
type Manager struct {
	port      Port
	view      View
	settings  settings
	takeovers *takeovers
	rivals    *rivals
	settled   *settledObjects
	wholes    *wholes
	former    *formerOwners
}

// NewManager returns a Manager over cluster. The options hold for every call and are
// overridden by those of a call. An invalid option is an error.
func NewManager(cluster Cluster, options ...Option) (*Manager, error) {
	if cluster == nil {
		return nil, errors.New("nil cluster: use deploy/cluster or deploy/dryrun")
	}
	defaults := settings{domain: Domain, fieldManager: "operkit", retryFor: DefaultRetryTime, concurrency: DefaultConcurrency}
	s, err := defaults.with(options)
	if err != nil {
		return nil, err
	}
	return &Manager{port: cluster.Port(), view: cluster.View(), settings: s, takeovers: &takeovers{}, rivals: &rivals{}, settled: &settledObjects{}, wholes: &wholes{}, former: &formerOwners{}}, nil
}

// With returns a Manager whose options are those of m and then the given ones, and which shares what m remembers.
func (m *Manager) With(options ...Option) (*Manager, error) {
	s, err := m.settings.with(options)
	if err != nil {
		return nil, err
	}
	other := *m
	other.settings = s
	return &other, nil
}

// View returns the reads that this Manager decides by.
func (m *Manager) View() View { return m.view }

// Port returns the requests that this Manager sends.
func (m *Manager) Port() Port { return m.port }

// FieldManager returns the name under which this Manager owns fields.
func (m *Manager) FieldManager() string { return m.settings.fieldManager }

// KeyDomain returns the domain of this Manager's annotation.
func (m *Manager) KeyDomain() string { return m.settings.domain }

// hashKey is the annotation that holds the hash of the last applied intent. It carries the
// manager's name so that two managers of one object don't overwrite each other's. The part
// behind the slash is limited to 63 characters.
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
