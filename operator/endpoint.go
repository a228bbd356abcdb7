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
	"runtime/debug"
	"sync"
	"time"

	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/internal/access"
	"github.com/operkit/operkit/operator/internal/certificate"
	"github.com/operkit/operkit/operator/metrics"
	"k8s.io/client-go/rest"
)

// endpoint is something that is served by HTTP.
type endpoint struct {
	// key is that of its address, usual the port in a Pod.
	key, address, usual string
	handler             http.Handler
	// tls has it served by HTTPS, nil for HTTP.
	tls *tls.Config
}

// endpoints are those of a process, some of which may be nowhere. client is for asking who may read metrics.
func endpoints(p *process, h *health, client *rest.Config) ([]endpoint, error) {
	probes := http.NewServeMux()
	probes.HandleFunc("/healthz", probe(h.alive))
	probes.HandleFunc("/readyz", probe(h.ready))
	all := []endpoint{
		{key: "health.address", address: p.Health.Address, usual: ":8081", handler: probes},
		{key: "profiling.address", address: p.Profiling.Address, handler: profiles()},
	}
	if p.metrics == nil {
		return all, nil
	}
	counted, err := measured(p, client)
	return append(all, counted), err
}

// measured is where metrics are served.
func measured(p *process, client *rest.Config) (endpoint, error) {
	pages := http.NewServeMux()
	pages.Handle("/metrics", p.metrics.Handler())
	e := endpoint{key: "metrics.address", address: p.Metrics.Address, usual: ":8080", handler: pages}
	if p.Metrics.CertificateFile == "" && !p.Metrics.Authorize {
		return e, nil
	}
	e.usual = ":8443"
	served, err := p.certificate()
	if err != nil {
		return endpoint{}, err
	}
	e.tls = served.Config()
	if !p.Metrics.Authorize {
		return e, nil
	}
	reviewer, err := access.New(client, p.logger)
	if err != nil {
		return endpoint{}, fmt.Errorf("metrics.authorize: %w", err)
	}
	e.handler = reviewer.Protect(pages)
	return e, nil
}

// certificate is the one by which metrics are served.
func (p *process) certificate() (*certificate.Served, error) {
	if p.Metrics.CertificateFile == "" {
		p.logger.Warn("metrics are served with a certificate that nobody can check: whoever reads them may show a token to somebody else",
			"mend", "metrics.certificate-file")
		return certificate.SelfSigned("metrics")
	}
	served, err := certificate.Load(p.Metrics.CertificateFile, p.Metrics.KeyFile, p.logger)
	if err != nil {
		return nil, fmt.Errorf("metrics.certificate-file: %w", err)
	}
	return served, nil
}

// newMetrics are those of a process, nil if they are served nowhere: then nothing is counted.
func (o *Operator) newMetrics(p *process) *metrics.Metrics {
	if p.Metrics.Address == config.NoAddress || p.Metrics.Address == config.AutoAddress && !o.inPod() {
		return nil
	}
	info, _ := debug.ReadBuildInfo()
	return metrics.New(o.name, newBuild(o.name, p.Versions.Operator, info).Version)
}

// probe answers what a check says.
func probe(check func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if err := check(); err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, err)
			return
		}
		fmt.Fprintln(w, "ok")
	}
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

// listen opens the endpoints that are somewhere, or none when one can't be. What it returns has to be called: it serves them until
// its context ends, and closes them.
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
		listener, err := net.Listen("tcp", e.address) //nolint:noctx // there is nothing to wait for
		if err != nil {
			for _, open := range listeners {
				_ = open.Close()
			}
			return nil, fmt.Errorf("%s %s: %w: say another one, or off", e.key, e.address, errors.Unwrap(err))
		}
		logger.Info("serving", "what", e.key, "address", listener.Addr().String(), "tls", e.tls != nil)
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
					logger.Error("nothing is served any more", "address", listeners[i].Addr().String(), "error", err)
				}
			})
		}
		<-ctx.Done()
		for _, server := range servers {
			_ = server.Close()
		}
		serving.Wait()
	}, nil
}
