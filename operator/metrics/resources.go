package metrics

import (
	"cmp"
	"maps"
	"slices"

	"github.com/operkit/operkit/reconcile/standing"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	resources = prometheus.NewDesc("operkit_resources", "Resources, by their standing after the last reconcile: "+
		"settled, waiting, failing, refused, paused or deleting.", []string{controller, "standing"}, nil)
	components = prometheus.NewDesc("operkit_components", "Components of all resources, by state: "+
		"verified, unverified, failed, unstarted or disabled.", []string{controller, "state"}, nil)
	versions = prometheus.NewDesc("operkit_resources_by_version", "Resources, by the version that they ask for; rare versions are counted as other.",
		[]string{controller, "version"}, nil)
	daemons = prometheus.NewDesc("operkit_daemons", "Functions that run in the background for resources, by state: running, stopping, "+
		"or abandoned, which don't return after they were stopped.", []string{controller, "state"}, nil)
	givenUp = prometheus.NewDesc("operkit_watchers_given_up_total", "How often a watcher was given up after its last retry, by its name.",
		[]string{controller, "watcher"}, nil)
	contested = prometheus.NewDesc("operkit_contested_objects", "Objects that somebody else sets again and again, such as another "+
		"manager, or the same operator installed twice.", []string{controller}, nil)
)

// mostVersions limits how many versions become labels, because the authors of resources choose the versions. other is
// the label of rare versions.
const (
	mostVersions = 20
	other        = "other"
)

// Resources adds the metrics of the resources of a kind, which reconciler counts, in place of an earlier one's.
func (m *Metrics) Resources(kind schema.GroupVersionKind, reconciler standing.Provider) {
	m.Released(kind)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tallied = append(m.tallied, tallied{kind, reconciler})
}

// Released drops the metrics of the resources of a kind that isn't reconciled any more.
func (m *Metrics) Released(kind schema.GroupVersionKind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tallied = slices.DeleteFunc(m.tallied, func(t tallied) bool { return t.kind == kind })
}

// tallied is a reconciler with its kind.
type tallied struct {
	kind schema.GroupVersionKind
	standing.Provider
}

// standings collects the metrics of resources.
type standings struct{ *Metrics }

// Describe implements prometheus.Collector.
func (*standings) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- resources
	descriptions <- components
	descriptions <- versions
	descriptions <- daemons
	descriptions <- givenUp
	descriptions <- contested
}

// Collect implements prometheus.Collector. Kinds of the same name are counted together.
func (s *standings) Collect(found chan<- prometheus.Metric) {
	s.mu.Lock()
	all := slices.Clone(s.tallied)
	s.mu.Unlock()
	sums := map[string]*standing.Tally{}
	for _, one := range all {
		kind := one.kind.Kind
		if sums[kind] == nil {
			sums[kind] = &standing.Tally{
				Resources: map[standing.Standing]int{}, Components: map[string]int{}, Versions: map[string]int{}, Daemons: map[string]int{}, GivenUp: map[string]int{},
			}
		}
		tally := one.Tally()
		add(sums[kind].Resources, tally.Resources)
		add(sums[kind].Components, tally.Components)
		add(sums[kind].Versions, tally.Versions)
		add(sums[kind].Daemons, tally.Daemons)
		add(sums[kind].GivenUp, tally.GivenUp)
		sums[kind].Contested += tally.Contested
	}
	gauge := func(what *prometheus.Desc, value int, labels ...string) {
		found <- prometheus.MustNewConstMetric(what, prometheus.GaugeValue, float64(value), labels...)
	}
	for kind, sum := range sums {
		// Zeros are written, too, so that lines in graphs fall to zero.
		for _, one := range standing.All() {
			gauge(resources, sum.Resources[one], kind, string(one))
		}
		for state, count := range sum.Components {
			gauge(components, count, kind, state)
		}
		for state, count := range sum.Daemons {
			gauge(daemons, count, kind, state)
		}
		for name, count := range sum.GivenUp {
			found <- prometheus.MustNewConstMetric(givenUp, prometheus.CounterValue, float64(count), kind, name)
		}
		gauge(contested, sum.Contested, kind)
		for version, count := range bounded(sum.Versions) {
			gauge(versions, count, kind, version)
		}
	}
}

func add[K comparable](sum, more map[K]int) {
	for key, count := range more {
		sum[key] += count
	}
}

// bounded combines the counts of rare versions.
func bounded(counts map[string]int) map[string]int {
	if len(counts) <= mostVersions {
		return counts
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	few := map[string]int{}
	for i, name := range names {
		if i >= mostVersions {
			name = other
		}
		few[name] += counts[names[i]]
	}
	return few
}
