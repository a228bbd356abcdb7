package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/operkit/operkit/tools/devcluster/internal/api"
	"github.com/operkit/operkit/tools/devcluster/internal/component"
	"github.com/operkit/operkit/tools/devcluster/internal/control"
	"github.com/operkit/operkit/tools/devcluster/internal/crd"
	"github.com/operkit/operkit/tools/devcluster/internal/lifeline"
	"github.com/operkit/operkit/tools/devcluster/internal/port"
	"github.com/operkit/operkit/tools/devcluster/internal/process"
	"github.com/operkit/operkit/tools/devcluster/internal/state"
	"github.com/operkit/operkit/tools/devcluster/internal/workdir"
)

// Cluster is a running cluster. Its methods may be called concurrently.
type Cluster struct {
	options Options
	begin   time.Time
	lock    *workdir.Lock
	line    *lifeline.Line
	spawner *process.Spawner
	ports   map[component.Name]*port.Reservation
	client  *api.Client
	control *control.Server

	// life ends when the cluster has to end. Its cause is a *CrashError or errDown.
	life context.Context
	end  context.CancelCauseFunc

	stopping sync.Once
	watchers sync.WaitGroup // goroutines that follow processes and health

	actions    sync.Mutex // held during one action on a component
	assessment sync.Mutex // held while all components are checked

	mu      sync.Mutex // guards the fields below and the state file
	members map[component.Name]*member
	changes int // how often the phase of a member has changed
	phase   state.Phase
	message string
}

// member is one component's process.
type member struct {
	process *process.Process // nil before the first start
	phase   state.Phase
}

// Start starts a cluster and returns when it is ready. The files of Options.CRDs are checked before anything else. If
// the start fails, or ctx ends before it is complete, no process is left running; the logs stay in the directory. If
// ctx ends later, the cluster goes on running: call Stop.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	options = options.withDefaults()
	definitions, err := crd.Load(options.CRDs...)
	if err != nil {
		return nil, err
	}
	lock, err := options.Dir.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		options: options, begin: time.Now(), lock: lock, spawner: process.NewSpawner(),
		ports:   map[component.Name]*port.Reservation{},
		members: map[component.Name]*member{}, phase: state.Starting,
	}
	c.life, c.end = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := c.start(ctx, definitions); err != nil {
		c.shutDown(state.Failed, err.Error())
		return nil, err
	}
	return c, nil
}

// Wait returns nil when ctx ends or when the cluster was asked to end. It returns a *CrashError if a component has
// ended by itself. It doesn't stop the cluster.
func (c *Cluster) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-c.life.Done():
		if err := context.Cause(c.life); !errors.Is(err, errDown) {
			return err
		}
		return nil
	}
}

// Stop ends all components and releases the directory; the logs stay in it. It may be called more than once.
func (c *Cluster) Stop() {
	if err := c.crashed(); err != nil {
		c.shutDown(state.Failed, err.Error())
		return
	}
	c.shutDown(state.Stopped, "")
}

// Server returns the URL of the API server.
func (c *Cluster) Server() string { return c.server() }

func (c *Cluster) server() string { return "https://" + c.ports[component.APIServer].Address() }

func (c *Cluster) crashed() error {
	var crash *CrashError
	if errors.As(context.Cause(c.life), &crash) {
		return crash
	}
	return nil
}
