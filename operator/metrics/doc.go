// Package metrics provides the metrics of an operator's process for Prometheus. Metrics that controller-runtime also
// has have the same names, so that its dashboards work. The names of all others begin with operkit.
//
//	m := metrics.New("guestbook-operator")
//	engine, err := watch.New(view, watch.Around(m.Around))
//	m.Engine(engine)
//	config.Wrap(m.Transport)
//	http.Handle("/metrics", m.Handler())
//
// Labels are kinds of controllers, results, codes, methods and the host of the API server. No label has the name of an
// object. The file grafana.json is a dashboard.
//
// # When to use it
//
// Package operator uses it for every operator. Use it for an engine of your own. It has its own registry, to which
// Collect adds collectors.
package metrics
