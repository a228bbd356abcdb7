package tlssecret

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
)

// errNone is why a handshake fails while there is nothing to serve.
var errNone = errors.New("serving certificate: there is none yet")

// Source has the certificate of a server. It is safe for concurrent use, but Load and Run run one at a time.
type Source struct {
	config Config
	port   deploy.Port
	view   deploy.View
	ref    deploy.Ref
	wish   wish
	// late is by how much longer than necessary this process waits, at most a tenth, so that mostly one of several
	// renews.
	late    float64
	changes chan struct{}

	served atomic.Pointer[served]
	// offset is how much the API server's clock is ahead of the clock of this process, 0 if they differ by less than
	// skew.
	offset atomic.Int64

	// stepping is held while the Secret is read and written.
	stepping sync.Mutex
	memory   *state
	pace     pace
	// found is what was in order when it was last decided.
	found found
	// checked is when the API server's clock was last asked.
	checked time.Time

	mu sync.Mutex
	// wrong is why the Secret isn't as it should be, and reported the text that was logged last.
	wrong    error
	reported string
}

// found is a version of the Secret that is in order from one time to another.
type found struct {
	version     string
	from, until time.Time
}

// served is what is served. It is never changed.
type served struct {
	certificate tls.Certificate
	bundle      []byte
}

// New returns a Source. on should be a client of its own that watches no other Secret than the one that
// Config.Selector selects in the namespace. Nothing is sent before Load or Run. The error has all that is wrong with c.
func New(on deploy.Cluster, c Config) (*Source, error) {
	names, err := c.complete()
	if err != nil {
		return nil, fmt.Errorf("serving certificate: %w", err)
	}
	return &Source{
		config: c, port: on.Port(), view: on.View(), ref: deploy.Ref{Kind: secretKind, Namespace: c.Namespace, Name: c.Secret},
		wish: wish{name: c.Secret, names: names, life: c.Life}, pace: newPace(),
		late: rand.Float64() / 10, changes: make(chan struct{}, 1), //nolint:gosec // no secret
	}, nil
}

// Load reads the Secret, and creates or changes it where that is needed, so that Server can serve afterwards. If the
// Secret can't be written, Load returns nil nevertheless if a certificate is there, and Check returns why. Load doesn't
// wait for an API server that is away. It isn't needed before Run, but says why nothing can be served.
func (s *Source) Load(ctx context.Context) error {
	_, err := s.step(ctx, s.port.Get)
	if err != nil && s.served.Load() == nil {
		return err
	}
	return ctx.Err()
}

// Server returns the configuration of a server: TLS 1.2 and later, with the certificate as it is at each handshake.
// Handshakes fail as long as there is none. The caller may change it.
func (s *Source) Server() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		if now := s.served.Load(); now != nil {
			return &now.certificate, nil
		}
		return nil, errNone
	}}
}

// CA returns the CAs that clients have to trust, as PEM, such as the caBundle of a webhook; nil as long as there are
// none. Don't change it.
func (s *Source) CA() []byte {
	if now := s.served.Load(); now != nil {
		return now.bundle
	}
	return nil
}

// Expires returns the time until which the certificate is valid that is served now; zero if there is none.
func (s *Source) Expires() time.Time {
	if now := s.served.Load(); now != nil {
		return now.certificate.Leaf.NotAfter
	}
	return time.Time{}
}

// Check returns what is wrong at present, for an alert: why the Secret can't be read or written, and that the
// certificate isn't valid. It is nil again when that is mended. It sends nothing.
func (s *Source) Check() error {
	s.mu.Lock()
	err := s.wrong
	s.mu.Unlock()
	present := s.served.Load()
	switch now := s.now(); {
	case present == nil:
		return errors.Join(err, errNone)
	case !within(present.certificate.Leaf, now):
		leaf := present.certificate.Leaf
		return errors.Join(err, fmt.Errorf("%s: the certificate that is served is valid from %s to %s, and it is %s", s.ref, stamp(leaf.NotBefore), stamp(leaf.NotAfter), stamp(now)))
	}
	return err
}

// now returns the time of the API server's clock, as far as it is known.
func (s *Source) now() time.Time { return s.config.Now().Add(time.Duration(s.offset.Load())) }

// remember serves a state that is in order.
func (s *Source) remember(ctx context.Context, next *state) {
	s.memory = next
	s.serve(ctx, next)
}

// fallBack serves a state that can't be put in order, if that is better than what is served: when it is accepted by
// those who trust what is published, or when there is nothing valid at all.
func (s *Source) fallBack(ctx context.Context, next *state) {
	present := s.served.Load()
	if next == nil || next.leaf.Cert == nil {
		return
	}
	if present != nil && within(present.certificate.Leaf, s.now()) && (s.memory != nil && !s.memory.verifies(next.leaf, s.now()) || !next.verifies(next.leaf, s.now())) {
		return
	}
	s.serve(ctx, next)
}

// serve serves a state.
func (s *Source) serve(ctx context.Context, next *state) {
	before := s.served.Load()
	pair, err := tls.X509KeyPair(next.leaf.CertPEM, next.leaf.KeyPEM)
	if err != nil {
		return // it was parsed before
	}
	bundle := next.bundlePEM()
	if before != nil && bytes.Equal(before.bundle, bundle) {
		bundle = before.bundle
		if before.certificate.Leaf.Equal(pair.Leaf) && len(before.certificate.Certificate) == len(pair.Certificate) {
			return
		}
	}
	s.served.Store(&served{pair, bundle})
	if before != nil {
		s.config.Logger.InfoContext(ctx, "another certificate is served", "secret", s.ref.Namespace+"/"+s.ref.Name, "expires", stamp(pair.Leaf.NotAfter))
	}
	if (before == nil || !bytes.Equal(before.bundle, bundle)) && s.config.Changed != nil {
		if err := failure.Guard(func() error { s.config.Changed(); return nil }); err != nil {
			s.config.Logger.ErrorContext(ctx, "the function Changed of a serving certificate panicked", "error", err)
		}
	}
}

// report records what is wrong, nil if nothing is. It logs each text once.
func (s *Source) report(ctx context.Context, err error) {
	s.mu.Lock()
	s.wrong = err
	text := ""
	if err != nil {
		text = err.Error()
	}
	again := text == s.reported
	s.reported = text
	s.mu.Unlock()
	if again || err == nil || ctx.Err() != nil {
		return
	}
	until := "none"
	if at := s.Expires(); !at.IsZero() {
		until = stamp(at)
	}
	s.config.Logger.WarnContext(ctx, "the Secret of a serving certificate isn't as it should be: what is there is served", "error", err, "expires", until)
}
