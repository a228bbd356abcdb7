package main

// of selects what the reader of the dashboard has chosen, and ofJob what isn't told by controller.
const (
	ofJob = `job=~"$job"`
	of    = ofJob + `, controller=~"$controller"`
)

// dashboard is what Grafana reads.
func dashboard() map[string]any {
	p := &placer{}
	p.row("Resources",
		stat("Settled", "percentunit", "Resources of which nothing is left to do.",
			query(`sum(operkit_resources{standing="settled", `+of+`}) / sum(operkit_resources{`+of+`})`, "")),
		stat("Not settled", "short", "Resources that wait, fail or are refused.",
			query(`sum(operkit_resources{standing=~"waiting|failing|refused", `+of+`})`, "")),
		stat("Retried", "short", "Resources that failed and wait for another try.", query(`sum(operkit_resources_retried{`+ofJob+`})`, "")),
		stat("Stuck", "short", "Reconciles that don't return although their time is over.", query(`sum(operkit_reconciles_stuck{`+ofJob+`})`, "")),
	)
	p.row("",
		graph("Resources", "short", "How it stands with them since their last reconcile.",
			query(`sum by (standing) (operkit_resources{`+of+`})`, "{{standing}}")).stacked(),
		graph("Components", "short", "How far the components of all resources got.",
			query(`sum by (state) (operkit_components{`+of+`})`, "{{state}}")).stacked(),
		graph("Versions", "short", "Which versions resources want.",
			query(`sum by (version) (operkit_resources_by_version{`+of+`})`, "{{version}}")).stacked(),
	)
	p.row("Reconciles",
		graph("Reconciles", "ops", "By what came of them.",
			query(`sum by (controller, result) (rate(controller_runtime_reconcile_total{`+of+`}[$__rate_interval]))`, "{{controller}} {{result}}")),
		graph("Failures", "ops", "Failures; those that aren't tried again; panics; reconciles that took too long.",
			query(`sum(rate(controller_runtime_reconcile_errors_total{`+of+`}[$__rate_interval]))`, "failed"),
			query(`sum(rate(controller_runtime_terminal_reconcile_errors_total{`+of+`}[$__rate_interval]))`, "refused"),
			query(`sum(rate(controller_runtime_reconcile_panics_total{`+of+`}[$__rate_interval]))`, "panicked"),
			query(`sum(rate(controller_runtime_reconcile_timeouts_total{`+of+`}[$__rate_interval]))`, "took too long")),
		graph("Time of a reconcile", "s", "", quantiles("controller_runtime_reconcile_time_seconds", of)...),
	)
	p.row("",
		graph("Requests of a reconcile", "short", "How many it sends to the API server, on average: 0 for a resource that is as it should be.",
			query(`sum by (controller) (rate(operkit_reconcile_calls_sum{`+of+`}[$__rate_interval])) / sum by (controller) (rate(operkit_reconcile_calls_count{`+of+`}[$__rate_interval]))`, "{{controller}}")),
		graph("Workers", "short", "Reconciles under way, and how many there may be.",
			query(`sum by (controller) (controller_runtime_active_workers{`+of+`})`, "{{controller}}"),
			query(`sum(controller_runtime_max_concurrent_reconciles{`+ofJob+`})`, "most")),
		graph("Longest", "s", "For how long the oldest reconcile is under way, and the longest time between two tries of a resource that fails.",
			query(`max(workqueue_longest_running_processor_seconds{`+ofJob+`})`, "under way"),
			query(`max(operkit_backoff_longest_seconds{`+ofJob+`})`, "between two tries")),
	)
	p.row("Queue",
		graph("Waiting", "short", "Resources that wait for a worker, those that come again by themselves, and events that nobody has looked at yet.",
			query(`sum(workqueue_depth{`+ofJob+`})`, "resources"), query(`sum(operkit_resources_timed{`+ofJob+`})`, "come again"),
			query(`sum(operkit_events_unread{`+ofJob+`})`, "events")),
		graph("Time in the queue", "s", "", quantiles("workqueue_queue_duration_seconds", of)...),
		graph("Events", "ops", "Events that came, resources whose turn came, and those that came again after a failure.",
			query(`sum(rate(operkit_events_total{`+ofJob+`}[$__rate_interval]))`, "events"),
			query(`sum(rate(workqueue_adds_total{`+of+`}[$__rate_interval]))`, "resources"),
			query(`sum(rate(workqueue_retries_total{`+of+`}[$__rate_interval]))`, "again after a failure")),
	)
	p.row("API server",
		graph("Requests", "reqps", "", query(`sum by (method, code) (rate(rest_client_requests_total{`+ofJob+`}[$__rate_interval]))`, "{{method}} {{code}}")),
		graph("Time until an answer begins", "s", "", quantiles("rest_client_request_duration_seconds", ofJob)...),
		graph("Kinds that can't be watched", "short", "", query(`sum(operkit_kinds_unwatched{`+ofJob+`})`, "kinds")),
	)
	p.row("Process",
		graph("Processor", "percentunit", "", query(`rate(process_cpu_seconds_total{`+ofJob+`}[$__rate_interval])`, "{{instance}}")),
		graph("Memory", "bytes", "", query(`process_resident_memory_bytes{`+ofJob+`}`, "resident {{instance}}"), query(`go_memstats_heap_inuse_bytes{`+ofJob+`}`, "heap {{instance}}")),
		graph("Works", "short", "1 for the replica that works, 0 for those that wait for their turn.",
			query(`leader_election_master_status{`+ofJob+`}`, "{{instance}}")),
	)
	return map[string]any{
		"title": "Operator", "uid": "operkit-operator", "tags": []string{"operator", "operkit"}, "schemaVersion": 39, "editable": true,
		"refresh": "30s", "time": map[string]any{"from": "now-1h", "to": "now"}, "timezone": "",
		"templating": map[string]any{"list": []any{
			map[string]any{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"},
			variable("job", "Job", "label_values(operkit_operator_info, job)"),
			variable("controller", "Controller", `label_values(operkit_resources{job=~"$job"}, controller)`),
		}},
		"annotations": map[string]any{"list": []any{}},
		"panels":      p.panels,
	}
}

// quantiles are those of a histogram.
func quantiles(histogram, of string) []map[string]any {
	var queries []map[string]any
	for _, quantile := range []string{"0.5", "0.95", "0.99"} {
		queries = append(queries, query(`histogram_quantile(`+quantile+`, sum by (le) (rate(`+histogram+`_bucket{`+of+`}[$__rate_interval])))`, quantile))
	}
	return queries
}
