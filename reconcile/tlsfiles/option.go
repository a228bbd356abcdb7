package tlsfiles

import (
	"log/slog"
	"os"
	"slices"
	"time"
)

// Option is an option of Load. nil is ignored.
type Option func(*options)

type options struct {
	verifyClients bool
	late          bool
	protocols     []string
	logger        *slog.Logger
	now           func() time.Time
	// readFile is os.ReadFile, except in tests.
	readFile func(name string) ([]byte, error)
}

// VerifyClients makes a server require a certificate from each client, of a CA in Files.CA (mutual TLS). Each
// connection has a full handshake then, without resumption, so that a CA that was removed isn't trusted any longer.
// Connections that are open already go on. Each certificate of these CAs is accepted: whether its owner may do
// something is the decision of the program, by tls.ConnectionState.PeerCertificates.
func VerifyClients() Option { return func(o *options) { o.verifyClients = true } }

// Late makes Load accept files that can't be used yet, because they are mounted before somebody has issued the
// certificate. Handshakes fail until they can be used. Until then Digest is empty, for the readiness of a program, and
// Check returns the reason.
func Late() Option { return func(o *options) { o.late = true } }

// Protocols sets the protocols that a server offers (ALPN), such as h2 for gRPC. The default is http/1.1 alone, because
// with HTTP/2 one client can keep a server busy by resetting streams.
func Protocols(names ...string) Option {
	names = slices.Clone(names)
	return func(o *options) { o.protocols = names }
}

// Logger sets the logger for files that can't be used, certificates that aren't valid, and new certificates; default
// slog.Default.
func Logger(logger *slog.Logger) Option { return func(o *options) { o.logger = logger } }

// Clock sets the source of time; default time.Now.
func Clock(now func() time.Time) Option { return func(o *options) { o.now = now } }

func newOptions(opts []Option) options {
	o := options{protocols: []string{"http/1.1"}, readFile: os.ReadFile}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	if o.logger == nil {
		o.logger = slog.Default()
	}
	if o.now == nil {
		o.now = time.Now
	}
	return o
}
