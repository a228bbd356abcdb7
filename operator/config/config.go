package config

import (
	"time"

	"github.com/operkit/operkit/reconcile/leader"
)

// Config holds the settings of an operator's process. The key of a field is its path in small letters with hyphens:
// leader-election.renew-deadline is LeaderElection.RenewDeadline. Default returns the defaults; the zero value isn't
// valid.
type Config struct {
	// Kubeconfig is the kubeconfig file. Empty means the files that kubectl reads, or else the Pod's service account.
	// Context is a context of the kubeconfig. Empty means the current context.
	Kubeconfig, Context string
	// KubeAPI limits requests. Controllers are the kinds whose controllers are enabled. An empty list enables all.
	KubeAPI     KubeAPI
	Controllers []string
	// Watch, Retry, Rollout, Status, Objects, Versions, LeaderElection and Peering set how the operator reconciles.
	// Webhooks sets how the API server reaches it. Log, Events, Heartbeat, Health, Metrics, Profiling and Manifests set
	// how it can be observed.
	Watch          Watch
	Retry          Retry
	Rollout        Rollout
	Status         Status
	Objects        Objects
	Versions       Versions
	LeaderElection LeaderElection
	Peering        Peering
	Webhooks       Webhooks
	Log            Log
	Events         Events
	Heartbeat      Heartbeat
	Health         Health
	Metrics        Metrics
	Profiling      Profiling
	Manifests      Manifests
}

// KubeAPI limits the requests to the API server.
type KubeAPI struct {
	// QPS is how many requests a second are sent in the long run. Burst is how many may be sent at once; 0 means twice
	// QPS.
	QPS   float64
	Burst int
}

// Watch sets what is watched, and when it is reconciled.
type Watch struct {
	// Namespaces are names or patterns such as "team-*". A "!" in front excludes the namespaces that match. The last
	// entry that matches a namespace decides. An empty list means all namespaces.
	Namespaces []string
	// NamespaceSelector selects namespaces by their labels, such as "tier=prod".
	NamespaceSelector string
	// Filter names the filter that decides which changes of a resource cause a reconcile, see filter.Named. Empty means
	// all changes except changes of the status.
	Filter string
	// Workers is how many resources are reconciled at once; 0 means the default of watch.Workers.
	Workers int
	// Period is the time after which a ready resource is reconciled again without an event, Recheck the time for a
	// resource that isn't ready. 0 means never.
	Period, Recheck time.Duration
	// Timeout is how long a reconcile may take. Grace is how long running reconciles may go on after the process was
	// asked to stop.
	Timeout, Grace time.Duration
}

// Retry sets when failed reconciles are retried.
type Retry struct {
	// First is the time before the first retry. It doubles with each failure in a row up to Longest.
	First, Longest time.Duration
	// Attempts is the number of failures in a row after which a resource isn't retried until it changes; 0 means that
	// it is always retried.
	Attempts int
}

// Rollout sets how a resource is rolled out.
type Rollout struct {
	// Concurrency is how many of its components are worked on at once; 0 means one after the other.
	Concurrency int
}

// Status sets what is written into the status of resources.
type Status struct {
	// Manage is whether the operator writes the status. Graph and Service need it.
	Manage bool
	// Graph adds the graph of the components as text. Service adds the field <kind>Status.
	Graph, Service bool
}

// Objects sets which annotations are added to deployed objects.
type Objects struct {
	// InternalNames adds the annotation with the name that temporary patches use.
	InternalNames bool
}

// Versions sets which versions a resource may ask for.
type Versions struct {
	// Supported are the versions that a resource may ask for. Strict refuses a resource that asks for another version
	// or for none, unless the name of its kind matches a pattern of Exempt.
	Supported []string
	Strict    bool
	Exempt    []string
	// Operator is the version of the operator itself.
	Operator string
}

// LeaderElection sets how the replicas of an operator agree which of them works.
type LeaderElection struct {
	// Lock is the kind of lock.
	Lock Lock
	// Name is the name of the Lease or ConfigMap. Empty means the operator's name. Namespace is the namespace of the
	// lock. Empty means the namespace of the Pod. Outside of a Pod Namespace is required.
	Name, Namespace string
	// Duration is the time without renewal after which another replica takes over the Lease, or with PerObjectLock a
	// resource. RenewDeadline is the time without renewal after which a replica stops working. RetryPeriod is the time
	// between two renewals.
	Duration, RenewDeadline, RetryPeriod time.Duration
}

// Peering sets whether another process of the operator can make this one pause, see package peering.
type Peering struct {
	// Priority is a whole number: this process pauses while another one has a higher or the same priority. Empty means
	// that it takes no part.
	Priority string
	// Namespace is the namespace in which the processes find each other. Empty means the namespace of the leader
	// election, or else of the Pod. Outside of a Pod one of them is required.
	Namespace string
}

// Webhooks sets how the API server reaches the operator's webhooks and conversions. Operators without any don't need
// it.
type Webhooks struct {
	// Address is AutoAddress, NoAddress, or an address to listen on. The usual port is 9443. Outside of a Pod
	// AutoAddress is the port of URL, and nothing without URL.
	Address string
	// Service is the Service in the operator's namespace through which the API server calls, as NAME or NAME:PORT.
	// Empty means the operator's name; the default of PORT is 443.
	Service string
	// URL is the address at which the API server calls instead of a Service, such as https://192.168.0.7:9443.
	URL string
	// Manage is whether the operator writes what the API server has to know: the webhooks' configurations, policies and
	// the conversion of CustomResourceDefinitions. Without it somebody else does, such as OLM.
	Manage bool
	// Secret is the name of the Secret with the operator's own certificate. Empty means the operator's name with
	// "-webhooks" after it.
	Secret string
	// CertificateDirectory has a certificate that somebody else issues: the files tls.crt and tls.key, and ca.crt with
	// the CAs that the API server has to trust. Empty means the operator's own certificate.
	CertificateDirectory string
	// InjectCAFrom is cert-manager's Certificate, as NAMESPACE/NAME, from which cert-manager writes the CAs into the
	// configurations. It needs CertificateDirectory.
	InjectCAFrom string
}

// Lock is the way in which replicas agree which of them works.
type Lock string

// The locks.
const (
	// AutoLock is LeaseLock in a Pod with a service account, and NoLock elsewhere.
	AutoLock Lock = "auto"
	// LeaseLock is a Lease, see leader.Lease: another replica takes over when the leader is gone for a while.
	LeaseLock Lock = "lease"
	// ForLifeLock is a ConfigMap that the Pod owns, see leader.ForLife: another replica takes over when the Pod is
	// deleted.
	ForLifeLock Lock = "for-life"
	// PerObjectLock lets all replicas work, each resource by one replica at a time, see leader.PerObject.
	PerObjectLock Lock = "per-object"
	// NoLock lets every replica work on everything.
	NoLock Lock = "none"
)

// Log sets what is logged.
type Log struct {
	// Level is the lowest level that is logged: off, error, warning, info, debug, trace, or debug1 to debug4.
	Level string
	// Format is text or json.
	Format string
	// Filters are levels of single channels, "CHANNEL:LEVEL".
	Filters []string
}

// Events sets which Kubernetes events are written about resources, see package event.
type Events struct {
	// Level is NoEvents, WarningEvents or AllEvents. Each event is a request to the API server.
	Level string
}

// The levels of events.
const (
	NoEvents = "off"
	// WarningEvents are failures.
	WarningEvents = "warning"
	// AllEvents are failures and changes. An apply that changes nothing is no event.
	AllEvents = "normal"
)

// Heartbeat is a file that proves progress, see package heartbeat.
type Heartbeat struct {
	// File is the path of the file. Empty means no heartbeat. Period is the time between two beats.
	File   string
	Period time.Duration
}

// The special values of an address. Any other value is an address to listen on, such as ":8081" or "127.0.0.1:0".
const (
	// AutoAddress serves at the usual port in a Pod, and nothing elsewhere.
	AutoAddress = "auto"
	// NoAddress serves nothing.
	NoAddress = "off"
)

// Health serves probes by HTTP: /healthz reports whether the process makes progress, /readyz whether it has started and
// read the cluster.
type Health struct {
	// Address is AutoAddress, NoAddress, or an address to listen on. The usual port is 8081.
	Address string
}

// Metrics serves /metrics for Prometheus.
type Metrics struct {
	// Address is AutoAddress, NoAddress, or an address to listen on. The usual port is 8080, and with TLS 8443.
	Address string
	// CertificateFile and KeyFile, in PEM, are for HTTPS. They are read again when they change.
	CertificateFile, KeyFile string
	// Authorize serves only clients that send the token of a service account to which RBAC grants get on /metrics. It
	// implies HTTPS, with a self-signed certificate if there is no CertificateFile.
	Authorize bool
}

// Profiling serves the profiles of package net/http/pprof.
type Profiling struct {
	// Address is NoAddress or an address to listen on.
	Address string
}

// Manifests writes what is rendered for each resource into files, see package manifest.
type Manifests struct {
	// Directory is where the files are written. Empty means that no files are written.
	Directory string
	// Disabled writes disabled components, too.
	Disabled bool
}

// Default returns the defaults.
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
		Webhooks:  Webhooks{Address: AutoAddress, Manage: true},
		Events:    Events{Level: WarningEvents},
		Log:       Log{Level: "info", Format: "text"},
		Heartbeat: Heartbeat{Period: 30 * time.Second},
		Health:    Health{Address: AutoAddress},
		Metrics:   Metrics{Address: AutoAddress},
		Profiling: Profiling{Address: NoAddress},
	}
}
