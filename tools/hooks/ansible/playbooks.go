package ansible

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/kinds"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/hooks/internal/playbook"
	"github.com/operkit/operkit/tools/hooks/internal/proxy"
	"github.com/operkit/operkit/tools/hooks/internal/watches"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

const (
	// DefaultPeriod is the time after which a resource is run again if neither Config nor its entry says it.
	DefaultPeriod = 10 * time.Hour
	// DefaultTimeout is the time of a run without another limit.
	DefaultTimeout = playbook.Timeout
	// ending is the time that a reconcile has besides its run.
	ending = time.Minute
	// firstRetry and longestRetry bound the time until a run that has failed is repeated.
	firstRetry, longestRetry = time.Second, 5 * time.Minute
)

// Config says how playbooks are run. API and Folder are required.
type Config struct {
	// API is the connection to the API server for the proxy of the runs. Its user needs the right to impersonate the
	// ServiceAccounts that the entries name.
	API *rest.Config
	// Folder is where runs have their files, and where the output of the latest runs is kept. No other process may use
	// it.
	Folder string
	// Period is the time after which a resource is run again, unless its entry says it. Zero means DefaultPeriod.
	Period time.Duration
	// Timeout bounds the time of a run. Zero means DefaultTimeout.
	Timeout time.Duration
	// Workers is how many resources of a kind are run at once, unless the environment says it for the kind, as in
	// WORKER_CACHE_EXAMPLE_COM=4. Zero means the number of processors.
	Workers int
	// Verbosity is how much Ansible writes, from 0 to 7, unless the environment says it for the kind, as in
	// ANSIBLE_VERBOSITY_CACHE_EXAMPLE_COM=2.
	Verbosity int
	// Command is the program ansible-playbook, and Python the interpreter of modules, which needs the Python package
	// kubernetes for modules that speak to the API. Empty means ansible-playbook of PATH, and /usr/bin/python3.
	Command, Python string
	// Logger logs; nil is slog.Default.
	Logger *slog.Logger
}

// Playbooks has the entries of files. The zero value has none. ReadFile and Start are called before the other methods,
// which are safe for concurrent use.
type Playbooks struct {
	entries []*watches.Entry
	config  Config
	runs    runner
	access  granter
}

// ReadFile adds the entries of a file watches.yaml. The error has all mistakes, each with the entry and the field, and
// then nothing is added.
func (p *Playbooks) ReadFile(path string) error {
	entries, err := watches.ReadFile(path, os.LookupEnv)
	errs := []error{err}
	for _, entry := range entries {
		if p.of(entry.Kind) != nil {
			errs = append(errs, fmt.Errorf("%s: %s: another file has an entry for this kind: merge them", path, entry.Kind.GroupKind()))
		}
		_, wrong := watches.Workers(entry.Kind, 1, os.LookupEnv)
		_, invalid := watches.Verbosity(entry.Kind, 0, os.LookupEnv)
		errs = append(errs, wrong, invalid)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	p.entries = append(p.entries, entries...)
	return nil
}

// Start starts the proxy of the runs, which ends with ctx. The error is about the Config, or about a program that isn't
// installed.
func (p *Playbooks) Start(ctx context.Context, config Config) error {
	config.setDefaults()
	if config.Period < 0 || config.Timeout < 0 || config.Workers < 0 {
		return errors.New("playbooks: negative period, timeout or number of workers: use zero for the default")
	}
	if config.Verbosity < 0 || config.Verbosity > watches.MaxVerbosity {
		return fmt.Errorf("playbooks: verbosity %d: use one from 0 to %d", config.Verbosity, watches.MaxVerbosity)
	}
	runs, err := playbook.New(playbook.Config{Folder: config.Folder, Command: config.Command, Python: config.Python, Timeout: config.Timeout})
	if err != nil {
		return err
	}
	access, err := proxy.New(ctx, proxy.Config{API: config.API, Logger: config.Logger})
	if err != nil {
		return err
	}
	p.config, p.runs, p.access = config, runs, access
	return nil
}

func (c *Config) setDefaults() {
	if c.Period == 0 {
		c.Period = DefaultPeriod
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Workers == 0 {
		c.Workers = runtime.NumCPU()
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
}

// Names returns the kinds of the entries, such as Cache.example.com, in the order of the files.
func (p *Playbooks) Names() (names []string) {
	for _, entry := range p.entries {
		names = append(names, entry.Kind.GroupKind().String())
	}
	return names
}

// of returns the entry of a kind, nil if there is none.
func (p *Playbooks) of(kind schema.GroupVersionKind) *watches.Entry {
	for _, entry := range p.entries {
		if entry.Kind.GroupKind() == kind.GroupKind() {
			return entry
		}
	}
	return nil
}

// Selector selects the kinds of the entries: for Operator.DriveKinds, together with Reconciler.
func (p *Playbooks) Selector() kinds.Selector {
	return kinds.Selector{
		Version: "*",
		Where: func(kind deploy.ServedKind) bool {
			entry := p.of(kind.Kind)
			return entry != nil && entry.Kind == kind.Kind
		},
		Finalizers: func(kind deploy.ServedKind) []string { return finalizersOf(p.of(kind.Kind)) },
		Options: func(kind deploy.ServedKind) []watch.Option {
			workers, _ := watches.Workers(kind.Kind, p.config.Workers, os.LookupEnv) // ReadFile has checked it
			return []watch.Option{watch.Workers(workers), watch.Timeout(p.config.Timeout + ending), watch.Backoff(firstRetry, longestRetry)}
		},
	}
}

// Reconciler returns the reconciler of a kind: for Operator.DriveKinds. It is an error if Start wasn't called.
func (p *Playbooks) Reconciler(_ context.Context, env watch.Env, kind deploy.ServedKind) (watch.Reconciler, error) {
	entry := p.of(kind.Kind)
	switch {
	case entry == nil:
		return nil, fmt.Errorf("%s: no entry is for this kind", kind.Kind.GroupKind())
	case p.runs == nil:
		return nil, errors.New("playbooks: not started: call Start first")
	}
	verbosity, err := watches.Verbosity(kind.Kind, p.config.Verbosity, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	return &reconciler{env: env, entry: entry, runs: p.runs, access: p.access, verbosity: verbosity, period: p.config.Period}, nil
}
