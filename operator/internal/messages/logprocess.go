package messages

// logProcess are lines in the log about the process.
var logProcess = []Entry{
	{
		Name:    "check the settings",
		Where:   "warning",
		Meaning: "A setting has no effect, or has an old name. The attribute `warning` says which.",
		Cause:   "A variable of the environment is misspelt, belongs to another kind of operator, or is oper8's.",
		Remedy:  "Do what `warning` says. `NAME config` shows all settings and where each comes from.",
	},
	{
		Name:    "a cleanup failed",
		Where:   "error",
		Meaning: "The cleanup of a startup returned an error at the end of the process.",
		Cause:   "What it ends, such as a connection, reports an error.",
		Remedy:  "Read `error`, and look at the function that the startup named in `startup` returned.",
	},
	{
		Name:    "a cleanup doesn't end: the process exits without waiting for it",
		Where:   "error",
		Meaning: "The cleanup of a startup takes too long, so the process exits.",
		Cause:   "It ignores its context, or waits for something that doesn't come.",
		Remedy:  "Pass the context to its calls.",
	},
	{
		Name:    "an extension failed to close",
		Where:   "warning",
		Meaning: "An extension, such as tracing, reported an error at the end of the process.",
		Cause:   "Its last data couldn't be sent in time.",
		Remedy:  "Read `error`. The work of the operator isn't affected.",
	},
	{
		Name:    "failed to start the heartbeat",
		Where:   "error",
		Meaning: "The file for `NAME check-heartbeat` is never written.",
		Cause:   "`heartbeat.period` isn't positive.",
		Remedy:  "Correct the setting.",
	},
	{
		Name: "metrics are served with a self-signed certificate: clients can't verify it, and could send their tokens " +
			"to another server",
		Where:   "warning",
		Meaning: "`metrics.authorize` is set without a certificate.",
		Cause:   "`metrics.certificate-file` isn't set.",
		Remedy:  "Mount a certificate, and set `metrics.certificate-file` and `metrics.key-file`.",
	},
	{
		Name:    "an HTTP server has stopped",
		Where:   "error",
		Meaning: "An endpoint, such as the metrics or the probes, isn't served any more.",
		Cause:   "The listener failed. `error` has the reason.",
		Remedy:  "Restart the Pod.",
	},
	{
		Name:    "TLS certificates are not as they should be: those read last are still used",
		Where:   "warning",
		Meaning: "The files of the certificate have changed and can't be used, or the certificate isn't valid at present.",
		Cause: "A file is missing or incomplete, the key belongs to another certificate, or nobody has renewed the " +
			"certificate.",
		Remedy: "Read `error`. Renew the certificate before the last one expires.",
	},
	{
		Name:    "TLS certificates can't be used: handshakes fail until they can",
		Where:   "warning",
		Meaning: "A program started with the option `tlsfiles.Late`, and has no certificate yet.",
		Cause:   "Nobody has issued the certificate yet, or a file is incomplete.",
		Remedy:  "Wait for what issues the certificate. If it has done so, read `error`.",
	},
	{
		Name:    "failed to ask the API server whether a client may read a page",
		Where:   "warning",
		Meaning: "A client of the metrics got the code 503.",
		Cause: "The operator's account lacks the ClusterRole `system:auth-delegator`, or the API server doesn't " +
			"answer.",
		Remedy: "Read `error`. Bind that ClusterRole to the operator's service account.",
	},
	{
		Name:  "traces can't be sent",
		Where: "warning",
		Meaning: "OpenTelemetry reports an error. Traces are lost, the work isn't affected. It is logged once a minute " +
			"at most.",
		Cause:  "The collector doesn't answer, or the address is wrong.",
		Remedy: "Read `error`, and check `OTEL_EXPORTER_OTLP_ENDPOINT`.",
	},
}
