package config

import (
	"slices"
	"time"

	"github.com/operkit/operkit/reconcile/leader"
)

// Config is what can be set of an operator's process. The key of a field is its path in small letters with hyphens:
// leader-election.renew-deadline is LeaderElection.RenewDeadline. Default has the defaults; the zero value isn't of use.
type Config struct {
	// Kubeconfig is the file that says where the API server is, empty to look where kubectl does and then at the Pod's
	// service account; Context is one of its contexts, empty for the current one.
	Kubeconfig, Context string
	// KubeAPI is how much that is asked.
	KubeAPI KubeAPI
	// Controllers are the kinds of those that work; none means all.
	Controllers []string
	// Watch, Retry and Rollout say when and how resources are reconciled, Status, Objects and Versions what is made of them, LeaderElection which
	// replica works. Log, Events, Heartbeat, Health, Metrics, Profiling and Manifests are how others learn of it.
	Watch          Watch
	Retry          Retry
	Rollout        Rollout
	Status         Status
	Objects        Objects
	Versions       Versions
	LeaderElection LeaderElection
	Log            Log
	Events         Events
	Heartbeat      Heartbeat
	Health         Health
	Metrics        Metrics
	Profiling      Profiling
	Manifests      Manifests
}

// KubeAPI is how much the API server is asked.
type KubeAPI struct {
	// QPS is how many requests a second it is asked in the long run; Burst is how many may come at once, 0 for twice
	// as many.
	QPS   float64
	Burst int
}

// Watch says what is watched, and when it is reconciled.
type Watch struct {
	// Namespaces are names, patterns such as "team-*" and, with a "!" in front, what is left out; the last that fits
	// decides. None means all.
	Namespaces []string
	// NamespaceSelector lets in only namespaces with these labels.
	NamespaceSelector string
	// Filter is which changes of a resource count, by a name of package filter; empty for all but those of the status.
	Filter string
	// Workers is how many resources are reconciled at once, 0 for as many as watch.Workers has by default.
	Workers int
	// Period is after what time a complete resource is reconciled again at the latest although nothing happens, Recheck
	// one that isn't complete. 0 is never.
	Period, Recheck time.Duration
	// Timeout is how long one reconcile may take, Grace how long those that run may go on when the process is to end.
	Timeout, Grace time.Duration
}

// Retry says when what failed is tried again.
type Retry struct {
	// First is the time before the first retry. It doubles with each failure in a row up to Longest.
	First, Longest time.Duration
	// Attempts is after how many failures in a row a resource is given up until it changes; 0 is never.
	Attempts int
}

// Rollout says how one resource is rolled out.
type Rollout struct {
	// Concurrency is how many of its components are worked on at once; 0 works on one after the other.
	Concurrency int
}

// Status says what is written into the status of resources.
type Status struct {
	// Manage tells whether anything is.
	Manage bool
	// Graph adds the graph of the components as text, Service the field <kind>Status.
	Graph, Service bool
}

// Objects says what objects carry.
type Objects struct {
	// InternalNames adds the annotation by which patches and people find them.
	InternalNames bool
}

// Versions says which versions of the operator's resources there are.
type Versions struct {
	// Supported are those on offer. Strict refuses resources that want another one or none, but for kinds of which a
	// pattern of Exempt matches the name.
	Supported []string
	Strict    bool
	Exempt    []string
	// Operator is the version of the operator itself.
	Operator string
}

// LeaderElection says how the replicas of an operator agree on the one that works.
type LeaderElection struct {
	// Lock is by what they agree.
	Lock Lock
	// Name is that of the Lease or ConfigMap, empty for the operator's; Namespace is where that is, empty for the Pod's.
	// Outside of a Pod it must be given.
	Name, Namespace string
	// Duration is for how long nobody takes a Lease or a resource over that isn't renewed, RenewDeadline for how long
	// the replica that works goes on without having renewed, RetryPeriod the time between two renewals.
	Duration, RenewDeadline, RetryPeriod time.Duration
}

// Lock is by what the replicas of an operator agree on the one that works.
type Lock string

// The locks.
const (
	// AutoLock is LeaseLock in a Pod, that is where the service account tells its namespace, and NoLock elsewhere.
	AutoLock Lock = "auto"
	// LeaseLock is a Lease, see leader.Lease: another replica takes over when this one is gone for a while.
	LeaseLock Lock = "lease"
	// ForLifeLock is a ConfigMap that the Pod owns, see leader.ForLife: another replica takes over when the Pod is deleted.
	ForLifeLock Lock = "for-life"
	// PerObjectLock has every replica work, each resource by one at a time, see leader.PerObject.
	PerObjectLock Lock = "per-object"
	// NoLock has every replica work on everything.
	NoLock Lock = "none"
)

// Log says what is logged.
type Log struct {
	// Level is the least that is: a name of Levels.
	Level string
	// Format is text or json.
	Format string
	// Filters are levels of single channels, "CHANNEL:LEVEL".
	Filters []string
}

// Events are what people are told of resources by events of Kubernetes, see package event.
type Events struct {
	// Level is which: NoEvents, WarningEvents or AllEvents. Each is a request to the API server.
	Level string
}

// Which events are written.
const (
	NoEvents = "off"
	// WarningEvents are failures.
	WarningEvents = "warning"
	// AllEvents are failures and each real change.
	AllEvents = "normal"
)

// Heartbeat is a file that proves progress, see package heartbeat.
type Heartbeat struct {
	// File is empty for none, Period the time in which it is written again.
	File   string
	Period time.Duration
}

// Where HTTP is served, beside addresses such as ":8081" and "127.0.0.1:0".
const (
	// AutoAddress is the usual port in a Pod, and nowhere else.
	AutoAddress = "auto"
	// NoAddress is nowhere.
	NoAddress = "off"
)

// Health is where probes ask, by HTTP: /healthz whether the process makes progress, /readyz whether it knows the cluster.
type Health struct {
	// Address is AutoAddress, NoAddress or one to listen on; the usual port is 8081.
	Address string
}

// Metrics is where /metrics is served, for Prometheus.
type Metrics struct {
	// Address is AutoAddress, NoAddress or one to listen on; the usual port is 8080, and with TLS 8443.
	Address string
	// CertificateFile and KeyFile, in PEM, have it served by HTTPS. They are read again when they change.
	CertificateFile, KeyFile string
	// Authorize lets only those read it who show the token of a service account that RBAC lets get /metrics. It is HTTPS
	// then, by a certificate of its own without a CertificateFile.
	Authorize bool
}

// Profiling is where profiles of package net/http/pprof are served.
type Profiling struct {
	// Address is NoAddress or one to listen on.
	Address string
}

// Manifests are files of what was rendered for each resource, see package manifest.
type Manifests struct {
	// Directory is empty for none.
	Directory string
	// Disabled tells whether disabled components are written too.
	Disabled bool
}

// clone shares nothing with c.
func (c Config) clone() Config {
	for _, list := range []*[]string{&c.Controllers, &c.Watch.Namespaces, &c.Versions.Supported, &c.Versions.Exempt, &c.Log.Filters} {
		*list = slices.Clone(*list)
	}
	return c
}

// Default returns what holds when nothing is said.
func Default() Config {
	return Config{
		KubeAPI: KubeAPI{QPS: 200},
		Watch:   Watch{Period: 10 * time.Minute, Recheck: time.Minute, Timeout: 2 * time.Minute, Grace: 20 * time.Second},
		Retry:   Retry{First: 250 * time.Millisecond, Longest: 30 * time.Second},
		Rollout: Rollout{Concurrency: 8},
		Status:  Status{Manage: true},
		Versions: Versions{
			Exempt: []string{"TemporaryPatch*"},
		},
		LeaderElection: LeaderElection{
			Lock: AutoLock, Duration: leader.DefaultDuration, RenewDeadline: leader.DefaultRenewDeadline, RetryPeriod: leader.DefaultRetryPeriod,
		},
		Events:    Events{Level: WarningEvents},
		Log:       Log{Level: "info", Format: "text"},
		Heartbeat: Heartbeat{Period: 30 * time.Second},
		Health:    Health{Address: AutoAddress},
		Metrics:   Metrics{Address: AutoAddress},
		Profiling: Profiling{Address: NoAddress},
	}
}
