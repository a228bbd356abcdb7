package operator

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"sync"
	"time"

	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/internal/access"
	"github.com/operkit/operkit/operator/internal/certificate"
	"github.com/operkit/operkit/reconcile/tlsfiles"
)

// endpoint is an address at which HTTP is served.
type endpoint struct {
	// key is the key of the setting with the address. usual is the address in a Pod if the setting is auto.
	key, address, usual string
	handler             http.Handler
	// tls is the configuration of HTTPS. Nil means plain HTTP.
	tls *tls.Config
}

// endpoints returns all endpoints of the process, including those that are switched off.
func (r *runner) endpoints() ([]endpoint, error) {
	probes := http.NewServeMux()
	probes.HandleFunc("/healthz", serveProbes(r.health.alive, r.operator.alive, r.logger))
	probes.HandleFunc("/readyz", serveProbes(r.health.ready, r.readyProbes(), r.logger))
	all := []endpoint{
		{key: "health.address", address: r.Health.Address, usual: ":8081", handler: probes},
		{key: "profiling.address", address: r.Profiling.Address, handler: profiles()},
	}
	if !r.measures() {
		return all, nil
	}
	page, err := r.metricsEndpoint()
	return append(all, page), err
}

func (r *runner) metricsEndpoint() (endpoint, error) {
	pages := http.NewServeMux()
	pages.Handle("/metrics", r.metrics.Handler())
	e := endpoint{key: "metrics.address", address: r.Metrics.Address, usual: ":8080", handler: pages}
	if r.Metrics.CertificateFile == "" && !r.Metrics.Authorize {
		return e, nil
	}
	e.usual = ":8443"
	var err error
	if e.tls, err = r.certificate(); err != nil {
		return endpoint{}, err
	}
	if !r.Metrics.Authorize {
		return e, nil
	}
	reviewer, err := access.New(r.plain, r.logger)
	if err != nil {
		return endpoint{}, fmt.Errorf("metrics.authorize: %w", err)
	}
	e.handler = reviewer.Protect(pages)
	return e, nil
}

// certificate returns the configuration of HTTPS for the metrics.
func (r *runner) certificate() (*tls.Config, error) {
	if r.Metrics.CertificateFile == "" {
		r.logger.Warn("metrics are served with a self-signed certificate: clients can't verify it, and could send their tokens to another server",
			"set", "metrics.certificate-file")
		return certificate.SelfSigned("metrics")
	}
	files := tlsfiles.Files{Certificate: r.Metrics.CertificateFile, Key: r.Metrics.KeyFile}
	served, err := tlsfiles.Load(files, tlsfiles.Logger(r.logger))
	if err != nil {
		return nil, fmt.Errorf("metrics.certificate-file: %w", err)
	}
	return served.Server(), nil
}

// measures reports whether the process serves metrics. If it doesn't, it doesn't measure reconciles and requests.
func (p *process) measures() bool {
	return p.Metrics.Address != config.NoAddress && (p.Metrics.Address != config.AutoAddress || p.operator.inPod())
}

func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// listen opens all endpoints that aren't off. If it can't open one of them, it closes the others and returns an error.
// The returned function must be called: it serves the endpoints until its context ends, and then closes them.
func listen(all []endpoint, inPod bool, logger *slog.Logger) (serve func(context.Context), err error) {
	var listeners []net.Listener
	var servers []*http.Server
	for _, e := range all {
		if e.address == config.AutoAddress && inPod {
			e.address = e.usual
		}
		if e.address == config.AutoAddress || e.address == config.NoAddress {
			continue
		}
		listener, err := net.Listen("tcp", e.address) //nolint:noctx // listening doesn't block
		if err != nil {
			for _, open := range listeners {
				_ = open.Close()
			}
			return nil, fmt.Errorf("%s %s: %w: set another address, or the value off", e.key, e.address, errors.Unwrap(err))
		}
		logger.Info("serving HTTP", "setting", e.key, "address", listener.Addr().String(), "tls", e.tls != nil)
		if e.tls != nil {
			listener = tls.NewListener(listener, e.tls)
		}
		listeners = append(listeners, listener)
		servers = append(servers, &http.Server{
			Handler: e.handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
			ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
		})
	}
	return func(ctx context.Context) {
		var serving sync.WaitGroup
		for i, server := range servers {
			serving.Go(func() {
				if err := server.Serve(listeners[i]); !errors.Is(err, http.ErrServerClosed) {
					logger.Error("an HTTP server has stopped", "address", listeners[i].Addr().String(), "error", err)
				}
			})
		}
		<-ctx.Done()
		for _, server := range servers {
			serving.Go(func() { shutdown(ctx, server) })
		}
		serving.Wait()
	}, nil
}

// answerTime is how long answers that have begun may take when a server ends.
const answerTime = 3 * time.Second

// shutdown ends a server: what it answers at the moment may be answered.
func shutdown(ctx context.Context, server *http.Server) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		_ = server.Close()
	}
}
