package config

import "github.com/spf13/pflag"

// register makes the keys of a Config flags.
func (c *Config) register(set *pflag.FlagSet) {
	set.StringVar(&c.Kubeconfig, "kubeconfig", c.Kubeconfig, "file that says where the API server is (default: KUBECONFIG, ~/.kube/config, or the Pod's service account)")
	set.StringVar(&c.Context, "context", c.Context, "context of the kubeconfig (default: its current one)")
	set.Float64Var(&c.KubeAPI.QPS, "kube-api.qps", c.KubeAPI.QPS, "how many requests a second the API server is asked at most, in the long run")
	set.IntVar(&c.KubeAPI.Burst, "kube-api.burst", c.KubeAPI.Burst, "how many requests may come at once, 0: twice as many as a second")
	set.StringSliceVar(&c.Controllers, "controllers", c.Controllers, "kinds whose controllers work (default: all)")
	c.Watch.register(set)
	set.Var((*duration)(&c.Retry.First), "retry.first", "time before the first retry of what failed; it doubles with each failure in a row")
	set.Var((*duration)(&c.Retry.Longest), "retry.longest", "longest time before a retry")
	set.IntVar(&c.Retry.Attempts, "retry.attempts", c.Retry.Attempts, "after how many failures in a row a resource is given up until it changes, 0: never")
	set.IntVar(&c.Rollout.Concurrency, "rollout.concurrency", c.Rollout.Concurrency, "how many components of a resource are worked on at once, 0: one after the other")
	set.BoolVar(&c.Status.Manage, "status.manage", c.Status.Manage, "write the status of resources")
	set.BoolVar(&c.Status.Graph, "status.graph", c.Status.Graph, "write the graph of the components into the status")
	set.BoolVar(&c.Status.Service, "status.service", c.Status.Service, "write the field <kind>Status into the status")
	set.BoolVar(&c.Objects.InternalNames, "objects.internal-names", c.Objects.InternalNames, "have objects carry their internal names as an annotation")
	set.StringSliceVar(&c.Versions.Supported, "versions.supported", c.Versions.Supported, "versions of resources that are on offer")
	set.BoolVar(&c.Versions.Strict, "versions.strict", c.Versions.Strict, "refuse resources that want a version which isn't on offer, or none")
	set.StringSliceVar(&c.Versions.Exempt, "versions.exempt", c.Versions.Exempt, "patterns of the names of kinds of which no version is asked for")
	set.StringVar(&c.Versions.Operator, "versions.operator", c.Versions.Operator, "version of the operator itself, for the status of resources")
	c.LeaderElection.register(set)
	set.StringVar(&c.Log.Level, "log.level", c.Log.Level, "least that is logged: off, error, warning, info, debug, trace, or debug1 to debug4")
	set.StringVar(&c.Log.Format, "log.format", c.Log.Format, "text or json")
	set.StringSliceVar(&c.Log.Filters, "log.filters", c.Log.Filters, "levels of single channels, such as billing:debug,mail:off")
	set.StringVar(&c.Events.Level, "events.level", c.Events.Level, "what people are told by events of Kubernetes: off, warning: failures, or normal: each change too")
	set.StringVar(&c.Heartbeat.File, "heartbeat.file", c.Heartbeat.File, "file into which the time is written as long as all is well (default: none)")
	set.Var((*duration)(&c.Heartbeat.Period), "heartbeat.period", "time between two heartbeats")
	set.StringVar(&c.Health.Address, "health.address", c.Health.Address, "where /healthz and /readyz are served, such as :8081, or off, or auto: :8081 in a Pod, else off")
	set.StringVar(&c.Metrics.Address, "metrics.address", c.Metrics.Address, "where /metrics is served for Prometheus, such as :8080, or off, or auto: :8080 in a Pod (:8443 with TLS), else off")
	set.StringVar(&c.Metrics.CertificateFile, "metrics.certificate-file", c.Metrics.CertificateFile, "certificate in PEM by which /metrics is served by HTTPS; it is read again when it changes")
	set.StringVar(&c.Metrics.KeyFile, "metrics.key-file", c.Metrics.KeyFile, "its key in PEM")
	set.BoolVar(&c.Metrics.Authorize, "metrics.authorize", c.Metrics.Authorize, "serve /metrics by HTTPS and to those alone whom RBAC lets get it; needs the ClusterRole system:auth-delegator")
	set.StringVar(&c.Profiling.Address, "profiling.address", c.Profiling.Address, "where /debug/pprof is served, such as 127.0.0.1:6060, or off")
	set.StringVar(&c.Manifests.Directory, "manifests.directory", c.Manifests.Directory, "directory for a file with what was rendered for each component (default: none)")
	set.BoolVar(&c.Manifests.Disabled, "manifests.disabled", c.Manifests.Disabled, "write disabled components too, below DISABLED")
}

func (w *Watch) register(set *pflag.FlagSet) {
	set.StringSliceVar(&w.Namespaces, "watch.namespaces", w.Namespaces, "namespaces to watch: names, patterns such as 'team-*', and with a '!' in front what is left out; the last that fits decides (default: all)")
	set.StringVar(&w.NamespaceSelector, "watch.namespace-selector", w.NamespaceSelector, "watch only namespaces with these labels, such as tier=prod")
	set.StringVar(&w.Filter, "watch.filter", w.Filter, "which changes of a resource count: default, annotation or user-annotation as in oper8 (default: all but those of the status)")
	set.IntVar(&w.Workers, "watch.workers", w.Workers, "how many resources are reconciled at once, 0: four for each processor, at least 4, at most 32")
	set.Var((*duration)(&w.Period), "watch.period", "after what time a complete resource to which nothing happens is reconciled again at the latest, 0: never")
	set.Var((*duration)(&w.Recheck), "watch.recheck", "after what time one that isn't complete is, 0: never")
	set.Var((*duration)(&w.Timeout), "watch.timeout", "how long one reconcile may take")
	set.Var((*duration)(&w.Grace), "watch.grace", "how long reconciles that run may go on when the process is to end")
}

func (e *LeaderElection) register(set *pflag.FlagSet) {
	set.StringVar((*string)(&e.Lock), "leader-election.lock", string(e.Lock), "by what replicas agree on the one that works: lease, for-life (of its Pod), per-object, none, or auto: lease in a Pod, else none")
	set.StringVar(&e.Name, "leader-election.name", e.Name, "name of the Lease or ConfigMap (default: the operator's)")
	set.StringVar(&e.Namespace, "leader-election.namespace", e.Namespace, "namespace of the Lease or ConfigMap (default: the Pod's)")
	set.Var((*duration)(&e.Duration), "leader-election.duration", "how long nobody takes over what isn't renewed")
	set.Var((*duration)(&e.RenewDeadline), "leader-election.renew-deadline", "how long the leader goes on without having renewed")
	set.Var((*duration)(&e.RetryPeriod), "leader-election.retry-period", "time between two renewals")
}
