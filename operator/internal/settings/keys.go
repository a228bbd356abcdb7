package settings

import (
	"time"

	"github.com/operkit/operkit/operator/config"
	"github.com/spf13/pflag"
)

// register adds a flag for each setting.
func register(c *config.Config, set *pflag.FlagSet) {
	duration := func(at *time.Duration, name, usage string) { config.DurationVar(set, at, name, *at, usage) }
	w, e := &c.Watch, &c.LeaderElection
	set.StringVar(&c.Kubeconfig, "kubeconfig", c.Kubeconfig, "kubeconfig file (default: KUBECONFIG, ~/.kube/config, or the Pod's service account)")
	set.StringVar(&c.Context, "context", c.Context, "context of the kubeconfig (default: its current one)")
	set.Float64Var(&c.KubeAPI.QPS, "kube-api.qps", c.KubeAPI.QPS, "most requests a second to the API server, in the long run")
	set.IntVar(&c.KubeAPI.Burst, "kube-api.burst", c.KubeAPI.Burst, "most requests to the API server at once, 0: twice kube-api.qps")
	set.StringSliceVar(&c.Controllers, "controllers", c.Controllers, "kinds whose controllers work (default: all)")
	set.StringSliceVar(&w.Namespaces, "watch.namespaces", w.Namespaces, "namespaces to watch: names or patterns such as 'team-*', with a '!' in front to leave them out; the last entry that matches decides (default: all)")
	set.StringVar(&w.NamespaceSelector, "watch.namespace-selector", w.NamespaceSelector, "watch only namespaces with these labels, such as tier=prod")
	set.StringVar(&w.Filter, "watch.filter", w.Filter, "which changes of a resource count: default, annotation or user-annotation as in oper8 (default: all except changes of the status)")
	set.IntVar(&w.Workers, "watch.workers", w.Workers, "how many resources are reconciled at once, 0: four for each processor, at least 4, at most 32")
	duration(&w.Period, "watch.period", "time after which a ready resource is reconciled again without an event, 0: never")
	duration(&w.Recheck, "watch.recheck", "time after which a resource that isn't ready is reconciled again without an event, 0: never")
	duration(&w.Timeout, "watch.timeout", "how long a reconcile may take")
	duration(&w.Grace, "watch.grace", "how long running reconciles may go on after the process was asked to stop")
	duration(&c.Retry.First, "retry.first", "time before the first retry of a failed reconcile; it doubles with each failure in a row")
	duration(&c.Retry.Longest, "retry.longest", "longest time before a retry")
	set.IntVar(&c.Retry.Attempts, "retry.attempts", c.Retry.Attempts, "failures in a row after which a resource isn't retried until it changes, 0: it is always retried")
	set.IntVar(&c.Rollout.Concurrency, "rollout.concurrency", c.Rollout.Concurrency, "how many components of a resource are worked on at once, 0: one after the other")
	set.BoolVar(&c.Status.Manage, "status.manage", c.Status.Manage, "write the status of resources")
	set.BoolVar(&c.Status.Graph, "status.graph", c.Status.Graph, "write the graph of the components into the status")
	set.BoolVar(&c.Status.Service, "status.service", c.Status.Service, "write the field <kind>Status into the status")
	set.BoolVar(&c.Objects.InternalNames, "objects.internal-names", c.Objects.InternalNames, "add the internal names of objects as an annotation")
	set.StringSliceVar(&c.Versions.Supported, "versions.supported", c.Versions.Supported, "versions that resources may ask for")
	set.BoolVar(&c.Versions.Strict, "versions.strict", c.Versions.Strict, "refuse resources that ask for no version, or for a version that isn't supported")
	set.StringSliceVar(&c.Versions.Exempt, "versions.exempt", c.Versions.Exempt, "patterns of the names of kinds that need no version")
	set.StringVar(&c.Versions.Operator, "versions.operator", c.Versions.Operator, "version of the operator itself, for the status of resources")
	set.StringVar((*string)(&e.Lock), "leader-election.lock", string(e.Lock), "how replicas agree which of them works: lease, for-life (of its Pod), per-object, none, or auto: lease in a Pod, else none")
	set.StringVar(&e.Name, "leader-election.name", e.Name, "name of the Lease or ConfigMap (default: the operator's)")
	set.StringVar(&e.Namespace, "leader-election.namespace", e.Namespace, "namespace of the Lease or ConfigMap (default: the Pod's)")
	duration(&e.Duration, "leader-election.duration", "time without renewal after which another replica takes over")
	duration(&e.RenewDeadline, "leader-election.renew-deadline", "time without renewal after which the leader stops working")
	duration(&e.RetryPeriod, "leader-election.retry-period", "time between two renewals")
	set.StringVar(&c.Peering.Priority, "peering.priority", c.Peering.Priority, "whole number: pause while another process of this operator has a higher or the same priority, and while the operator is frozen (default: take no part)")
	set.StringVar(&c.Peering.Namespace, "peering.namespace", c.Peering.Namespace, "namespace in which such processes find each other (default: that of the leader election, or else the Pod's)")
	h := &c.Webhooks
	set.StringVar(&h.Address, "webhooks.address", h.Address, "where webhooks and conversions are served, such as :9443, or off, or auto: :9443 in a Pod, else the port of webhooks.url")
	set.StringVar(&h.Service, "webhooks.service", h.Service, "Service in the operator's namespace through which the API server calls, NAME or NAME:PORT (default: the operator's name and 443)")
	set.StringVar(&h.URL, "webhooks.url", h.URL, "address at which the API server calls instead of a Service, such as https://192.168.0.7:9443")
	set.BoolVar(&h.Manage, "webhooks.manage", h.Manage, "write the configurations of webhooks, policies and the conversion of definitions")
	set.StringVar(&h.Secret, "webhooks.secret", h.Secret, "Secret with the operator's own certificate (default: the operator's name and -webhooks)")
	set.StringVar(&h.CertificateDirectory, "webhooks.certificate-directory", h.CertificateDirectory, "directory with tls.crt, tls.key and ca.crt that somebody else renews (default: the operator issues a certificate)")
	set.StringVar(&h.InjectCAFrom, "webhooks.inject-ca-from", h.InjectCAFrom, "Certificate of cert-manager, NAMESPACE/NAME, from which it writes the CAs into the configurations")
	set.StringVar(&c.Log.Level, "log.level", c.Log.Level, "lowest level that is logged: off, error, warning, info, debug, trace, or debug1 to debug4")
	set.StringVar(&c.Log.Format, "log.format", c.Log.Format, "text or json")
	set.StringSliceVar(&c.Log.Filters, "log.filters", c.Log.Filters, "levels of single channels, such as billing:debug,mail:off")
	set.StringVar(&c.Events.Level, "events.level", c.Events.Level, "Kubernetes events to write: off, warning (failures), or normal (failures and changes)")
	set.StringVar(&c.Heartbeat.File, "heartbeat.file", c.Heartbeat.File, "file into which the time is written while the process makes progress (default: none)")
	duration(&c.Heartbeat.Period, "heartbeat.period", "time between two heartbeats")
	set.StringVar(&c.Health.Address, "health.address", c.Health.Address, "where /healthz and /readyz are served, such as :8081, or off, or auto: :8081 in a Pod, else off")
	set.StringVar(&c.Metrics.Address, "metrics.address", c.Metrics.Address, "where /metrics is served for Prometheus, such as :8080, or off, or auto: :8080 in a Pod (:8443 with TLS), else off")
	set.StringVar(&c.Metrics.CertificateFile, "metrics.certificate-file", c.Metrics.CertificateFile, "certificate in PEM to serve /metrics by HTTPS; it is read again when it changes")
	set.StringVar(&c.Metrics.KeyFile, "metrics.key-file", c.Metrics.KeyFile, "key of the certificate, in PEM")
	set.BoolVar(&c.Metrics.Authorize, "metrics.authorize", c.Metrics.Authorize, "serve /metrics by HTTPS, and only to clients that RBAC allows to get /metrics; needs the ClusterRole system:auth-delegator")
	set.StringVar(&c.Profiling.Address, "profiling.address", c.Profiling.Address, "where /debug/pprof is served, such as 127.0.0.1:6060, or off")
	set.StringVar(&c.Manifests.Directory, "manifests.directory", c.Manifests.Directory, "directory for rendered objects, one per component (default: none)")
	set.BoolVar(&c.Manifests.Disabled, "manifests.disabled", c.Manifests.Disabled, "write disabled components too, below DISABLED")
}
