package settings

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/operkit/operkit/reconcile/peering"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

// check validates all values.
func (s *Settings) check() {
	c := &s.config
	s.wants("kube-api.qps", c.KubeAPI.QPS > 0, "it must be more than 0")
	s.notNegative("kube-api.burst", c.KubeAPI.Burst)
	s.checkWatch()
	s.wants("retry.first", c.Retry.First > 0, "it must be positive")
	s.wants("retry.longest", c.Retry.Longest >= c.Retry.First, fmt.Sprintf("it can't be less than retry.first, %s", c.Retry.First))
	s.notNegative("retry.attempts", c.Retry.Attempts)
	s.notNegative("rollout.concurrency", c.Rollout.Concurrency)
	s.wants("status.graph", c.Status.Manage || !c.Status.Graph, "it needs status.manage")
	s.wants("status.service", c.Status.Manage || !c.Status.Service, "it needs status.manage")
	for _, kind := range c.Controllers {
		known := len(s.Kinds) == 0 || slices.Contains(s.Kinds, kind)
		s.wants("controllers", known, fmt.Sprintf("this operator has no controller of the kind %s: choose one of %s", kind, strings.Join(s.Kinds, ", ")))
	}
	for _, pattern := range c.Versions.Exempt {
		_, err := path.Match(pattern, "")
		s.wants("versions.exempt", err == nil, fmt.Sprintf("%q is no pattern such as Temporary*", pattern))
	}
	s.checkElection()
	s.checkPeering()
	s.checkWebhooks()
	_, err := logging.ParseLevel(c.Log.Level)
	s.accept("log.level", err)
	s.wants("log.format", c.Log.Format == "text" || c.Log.Format == "json", "use text or json")
	_, err = logging.ParseFilters(strings.Join(c.Log.Filters, ","))
	s.accept("log.filters", err)
	s.wants("events.level", slices.Contains([]string{config.NoEvents, config.WarningEvents, config.AllEvents}, c.Events.Level), "use off, warning or normal")
	s.wants("heartbeat.period", c.Heartbeat.Period > 0, "it must be positive")
	s.wants("health.address", c.Health.Address == config.AutoAddress || isAddress(c.Health.Address), "use auto, off, or an address such as :8081 or 127.0.0.1:0")
	s.wants("metrics.address", c.Metrics.Address == config.AutoAddress || isAddress(c.Metrics.Address), "use auto, off, or an address such as :8080 or 127.0.0.1:0")
	s.wants("metrics.key-file", (c.Metrics.KeyFile != "") == (c.Metrics.CertificateFile != ""), "give both metrics.certificate-file and metrics.key-file")
	s.wants("profiling.address", isAddress(c.Profiling.Address), "use off, or an address such as :6060 or 127.0.0.1:0")
	s.wants("manifests.disabled", !c.Manifests.Disabled || c.Manifests.Directory != "", "it needs manifests.directory")
}

// isAddress reports whether a text is an address to listen on, or off.
func isAddress(text string) bool {
	_, port, err := net.SplitHostPort(text)
	_, portErr := strconv.ParseUint(port, 10, 16)
	return text == config.NoAddress || err == nil && portErr == nil
}

func (s *Settings) checkWatch() {
	w := &s.config.Watch
	for _, pattern := range w.Namespaces {
		_, err := cluster.NamespacePattern(pattern)
		s.accept("watch.namespaces", err)
	}
	_, err := labels.Parse(w.NamespaceSelector)
	s.accept("watch.namespace-selector", err)
	_, err = filter.Named(w.Filter, "")
	s.accept("watch.filter", err)
	s.notNegative("watch.workers", w.Workers)
	s.wants("watch.period", w.Period >= 0, "it can't be negative")
	s.wants("watch.recheck", w.Recheck >= 0, "it can't be negative")
	s.wants("watch.grace", w.Grace >= 0, "it can't be negative")
	s.wants("watch.timeout", w.Timeout > 0, "it must be positive")
}

// meaningless lists the settings of leader election that have no meaning for a lock.
var meaningless = map[config.Lock][]string{
	config.AutoLock: nil, config.LeaseLock: nil,
	config.ForLifeLock:   {"duration"},
	config.PerObjectLock: {"name", "namespace"},
	config.NoLock:        {"name", "namespace", "duration", "renew-deadline", "retry-period"},
}

func (s *Settings) checkElection() {
	e := &s.config.LeaderElection
	ignored, known := meaningless[e.Lock]
	s.wants("leader-election.lock", known, "use auto, lease, for-life, per-object or none")
	for _, key := range ignored {
		key = "leader-election." + key
		if old := s.oldNameOf(key); old != "" { // in oper8 this isn't a mistake
			s.warnings = append(s.warnings, fmt.Sprintf("%s has no meaning with leader-election.lock %s", old, e.Lock))
			s.forget(key)
		}
		// If the source that sets the lock overrides the source of this setting, the setting is ignored. A default
		// value is no mistake, because a file may hold all settings.
		if s.origins[key].Source < s.origins["leader-election.lock"].Source {
			s.forget(key)
		}
		s.wants(key, s.isDefault(key), fmt.Sprintf("it has no meaning with leader-election.lock %s", e.Lock))
	}
	if e.Lock == config.NoLock {
		return
	}
	valid := true
	for _, time := range []struct {
		key   string
		value time.Duration
	}{{"duration", e.Duration}, {"renew-deadline", e.RenewDeadline}, {"retry-period", e.RetryPeriod}} {
		key := "leader-election." + time.key
		s.wants(key, time.value > 0, "it must be positive")
		valid = valid && !s.refused[key]
	}
	if !valid {
		return // invalid times can't be compared
	}
	duration := e.Duration
	if e.Lock == config.ForLifeLock { // this lock has no duration: nobody takes it over after a time
		duration = e.RenewDeadline + time.Second
	}
	if err := leader.Check(leader.Timing(duration, e.RenewDeadline, e.RetryPeriod)); err != nil {
		s.mistake(fmt.Sprintf("leader-election: %v", err))
	}
}

func (s *Settings) checkPeering() {
	p := &s.config.Peering
	if p.Priority != "" {
		_, err := peering.ParsePriority(p.Priority)
		s.accept("peering.priority", err)
		s.wants("peering.priority", s.config.LeaderElection.Lock != config.PerObjectLock,
			"it has no meaning with leader-election.lock per-object, where all replicas work: use the lock lease")
	}
	if p.Namespace != "" {
		problems := validation.IsDNS1123Label(p.Namespace)
		s.wants("peering.namespace", len(problems) == 0, strings.Join(problems, ", "))
	}
}

func (s *Settings) checkWebhooks() {
	w := &s.config.Webhooks
	s.wants("webhooks.address", w.Address == config.AutoAddress || isAddress(w.Address), "use auto, off, or an address such as :9443 or 127.0.0.1:0")
	_, _, err := ParseService(w.Service, "operator")
	s.accept("webhooks.service", err)
	if w.URL != "" {
		s.accept("webhooks.url", checkURL(w.URL))
		s.wants("webhooks.url", w.Service == "", "it can't be given together with webhooks.service: the API server calls at one of them")
	}
	if w.Secret != "" {
		s.wants("webhooks.secret", w.CertificateDirectory == "", "it has no meaning with webhooks.certificate-directory")
		problems := validation.IsDNS1123Subdomain(w.Secret)
		s.wants("webhooks.secret", len(problems) == 0, strings.Join(problems, ", "))
	}
	if w.InjectCAFrom != "" {
		s.wants("webhooks.inject-ca-from", w.CertificateDirectory != "", "it needs webhooks.certificate-directory, where the certificate is mounted")
		namespace, name, found := strings.Cut(w.InjectCAFrom, "/")
		s.wants("webhooks.inject-ca-from", found && namespace != "" && name != "" && !strings.Contains(name, "/"), "use NAMESPACE/NAME of a Certificate")
	}
}

// checkURL returns what is wrong with the address at which the API server calls.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "https" || u.Hostname() == "":
		return errors.New("use https://HOST:PORT")
	case strings.Trim(u.Path, "/") != "":
		return errors.New("webhooks have paths of their own: use https://HOST:PORT")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("the API server takes no user, query or fragment: use https://HOST:PORT")
	}
	return nil
}

// isDefault reports whether a key has its default value, whatever set it.
func (s *Settings) isDefault(key string) bool {
	f := s.flags.Lookup(key)
	return f.Value.String() == f.DefValue
}

// forget resets a key to its default.
func (s *Settings) forget(key string) {
	f := s.flags.Lookup(key)
	_ = inner(f).Set(f.DefValue) // it succeeds: the flag itself wrote DefValue
	delete(s.origins, key)
}

// wants refuses the value of a key unless it is valid.
func (s *Settings) wants(key string, valid bool, reason string) {
	if !valid && !s.refused[key] {
		s.refuse(key, s.origins[key], s.flags.Lookup(key).Value.String(), reason)
	}
}

func (s *Settings) notNegative(key string, value int) {
	s.wants(key, value >= 0, "it can't be negative")
}

func (s *Settings) accept(key string, err error) {
	if err != nil {
		s.wants(key, false, err.Error())
	}
}
