package operator

import (
	"context"
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
	"github.com/operkit/operkit/operator/metrics"
)

// endpoint is something that is served by HTTP.
type endpoint struct {
	// key is that of its address, usual the port in a Pod.
	key, address, usual string
	handler             http.Handler
}

// endpoints are those of a process, some of which may be nowhere.
func endpoints(p *process, h *health, m *metrics.Metrics) []endpoint {
	probes := http.NewServeMux()
	probes.HandleFunc("/healthz", probe(h.alive))
	probes.HandleFunc("/readyz", probe(h.ready))
	all := []endpoint{
		{"health.address", p.Health.Address, ":8081", probes},
		{"profiling.address", p.Profiling.Address, "", profiles()},
	}
	if m != nil {
		counted := http.NewServeMux()
		counted.Handle("/metrics", m.Handler())
		all = append(all, endpoint{"metrics.address", p.Metrics.Address, ":8080", counted})
	}
	return all
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
		listener, err := net.Listen("tcp", e.address)
		if err != nil {
			for _, open := range listeners {
				_ = open.Close()
			}
			return nil, fmt.Errorf("%s %s: %w: say another one, or off", e.key, e.address, errors.Unwrap(err))
		}
		logger.Info("serving", "what", e.key, "address", listener.Addr().String())
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
