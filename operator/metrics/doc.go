// Package metrics provides the metrics of an operator's process for Prometheus. A metric that also exists in
// controller-runtime has the same name as there, so that dashboards for controller-runtime work. All other names begin
// with operkit.
//
//	m := metrics.New("guestbook-operator")
//	engine, err := watch.New(view, watch.Around(m.Around))
//	m.Engine(engine)
//	config.Wrap(m.Transport)
//	http.Handle("/metrics", m.Handler())
//
// The value of a label is, for example, the kind of a controller, a result, a status code, a method, or the host of the
// API server. It is never the name of an object. The file grafana.json is a dashboard.
//
// # When to use it
//
// Package operator uses it for every operator. Use it directly only if you run an engine without package operator. It
// has its own registry, to which Collect adds collectors.
package metrics
