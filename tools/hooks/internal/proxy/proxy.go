package proxy

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy/cluster"
	"golang.org/x/net/netutil"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

const (
	// maxHeader bounds the headers of a request, in bytes.
	maxHeader = 64 << 10
	// maxConnections bounds the connections of all callers, so that the operator keeps files to open.
	maxConnections = 512
)

// times bound how long a caller may keep a connection busy.
type times struct {
	// header is for the headers of a request, body for its body, and stall for each part of the response.
	header, body, stall time.Duration
	// idle is for a connection without a request.
	idle time.Duration
}

var defaultTimes = times{header: 10 * time.Second, body: 30 * time.Second, stall: 30 * time.Second, idle: 90 * time.Second}

// Config says how a Proxy reaches the API server. Only API is required.
type Config struct {
	// API is the connection of the operator, who needs the right to impersonate the ServiceAccounts of the runs. Its
	// Impersonate isn't used, because a request impersonates one user at most. Its limits of rates aren't used either.
	API *rest.Config
	// Logger gets a line for each write, at level Debug. nil means slog.Default().
	Logger *slog.Logger

	times times
}

// Proxy is a proxy to an API server, on a loopback address. It is safe for concurrent use.
type Proxy struct {
	logger   *slog.Logger
	times    times
	kinds    *kinds
	api      *url.URL
	upstream http.RoundTripper
	server   *http.Server
	address  string
	// authority is the certificate that a caller needs, in PEM.
	authority []byte

	mu       sync.Mutex
	accesses map[digest]*Access
	isClosed bool

	stop   context.CancelFunc
	served chan struct{}
	failed error
}

// New starts a Proxy on 127.0.0.1, with a port that the system chooses. It runs until ctx ends or Close is called. New
// sends no request.
func New(ctx context.Context, config Config) (*Proxy, error) {
	if config.API == nil {
		return nil, errors.New("proxy: nil API")
	}
	if config.Logger == nil {
		config.Logger = slog.Default()
	}
	if config.times == (times{}) {
		config.times = defaultTimes
	}
	api := rest.CopyConfig(config.API)
	api.Impersonate = rest.ImpersonationConfig{}
	address, _, err := rest.DefaultServerUrlFor(api)
	if err != nil {
		return nil, fmt.Errorf("proxy: API server %s: %w", api.Host, err)
	}
	address.Path = cmp.Or(address.Path, "/")
	upstream, err := rest.TransportFor(api)
	if err != nil {
		return nil, fmt.Errorf("proxy: API server %s: %w", api.Host, err)
	}
	certificate, authority, err := newCertificate()
	if err != nil {
		return nil, fmt.Errorf("proxy: certificate: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	served, err := cluster.New(ctx, api, cluster.Logger(config.Logger))
	if err != nil {
		stop()
		return nil, fmt.Errorf("proxy: %w", err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		stop()
		return nil, fmt.Errorf("proxy: %w", err)
	}
	p := &Proxy{
		logger: config.Logger, times: config.times, kinds: newKinds(served), api: address, upstream: upstream,
		address: "https://" + listener.Addr().String(), authority: authority,
		accesses: map[digest]*Access{}, stop: stop, served: make(chan struct{}),
	}
	p.serve(ctx, listener, certificate)
	return p, nil
}

// serve serves until ctx ends.
func (p *Proxy) serve(ctx context.Context, listener net.Listener, certificate tls.Certificate) {
	http1 := new(http.Protocols)
	http1.SetHTTP1(true)
	p.server = &http.Server{
		Handler: p, Protocols: http1, DisableGeneralOptionsHandler: true,
		MaxHeaderBytes: maxHeader, ReadHeaderTimeout: p.times.header, IdleTimeout: p.times.idle,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
		ErrorLog:  slog.NewLogLogger(p.logger.Handler(), slog.LevelDebug),
	}
	ended := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(ended)
		_ = p.server.Close()
		for _, access := range p.close() {
			access.End()
		}
		utilnet.CloseIdleConnectionsFor(p.upstream)
	})
	go func() {
		defer close(p.served)
		if err := p.server.ServeTLS(netutil.LimitListener(listener, maxConnections), "", ""); !errors.Is(err, http.ErrServerClosed) {
			p.failed = fmt.Errorf("proxy %s: %w", p.address, err)
		}
		p.stop()
		<-ended
	}()
}

// close returns the accesses that haven't ended, and lets no further ones begin.
func (p *Proxy) close() (open []*Access) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isClosed = true
	for _, access := range p.accesses {
		open = append(open, access)
	}
	return open
}

// Close ends the proxy with all accesses and requests, and returns when nothing of it is left.
func (p *Proxy) Close() {
	p.stop()
	<-p.served
}

// Wait waits until the proxy has ended. The error is nil if it was closed or its context has ended.
func (p *Proxy) Wait() error {
	<-p.served
	return p.failed
}
