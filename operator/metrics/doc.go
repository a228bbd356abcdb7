// Package metrics counts and measures what an operator's process does, for Prometheus: under the names of controller-runtime where
// the same is meant, so that dashboards for that work, and under operkit's own where that has none.
//
//	m := metrics.New("guestbook-operator")
//	engine, err := watch.New(view, watch.Around(m.Around))
//	m.Engine(engine)
//	config.Wrap(m.Transport)
//	http.Handle("/metrics", m.Handler())
//
// Labels are few: kinds of the controllers, results, codes, methods, the host of the API server. Nothing has a label with the name of an
// object.
//
// # When to use it
//
// Package operator uses it for every operator. Use it for an engine of your own. It has a registry of its own, to which a
// program adds what it counts itself.
package metrics
