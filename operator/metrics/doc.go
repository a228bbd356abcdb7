// Package metrics provides the metrics of an operator's process for Prometheus. They have the names of
// controller-runtime where that has the same metric, so that its dashboards work, and names that begin with operkit
// elsewhere.
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
