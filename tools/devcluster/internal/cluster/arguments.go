package cluster

import (
	"strconv"

	"github.com/operkit/operkit/tools/devcluster/internal/component"
)

// Sockets and files in the components' working directory. etcd has no authentication of its own, so it listens on unix
// sockets there and on no port. Their paths are relative to that directory, so that they stay short even if the
// directory's path is long.
const (
	etcdSocket  = "etcd.sock"
	peerSocket  = "peer.sock"
	policyFile  = "audit-policy.yaml"
	kwokFile    = "kwok.yaml"
	memberName  = "devcluster"
	podRange    = "10.244.0.0/24"
	fakeAddress = "192.0.2.1" // an address for documentation: nothing listens there
)

// auditPolicy logs the metadata of each request. A watch is also logged when it begins, since it may still run when
// someone reads the log; both events have the same auditID.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: None
  nonResourceURLs: ["/healthz*", "/livez*", "/readyz*"]
- level: Metadata
  verbs: ["watch"]
  omitStages: ["RequestReceived"]
- level: Metadata
  omitStages: ["RequestReceived", "ResponseStarted"]
`

// unlimitedAuditSize keeps the API server from rotating the audit log, in megabytes: its readers
// count calls in one file.
const unlimitedAuditSize = "1048576"

// createConfiguration writes the configuration files that the components' arguments name.
func (c *Cluster) createConfiguration() error {
	dir := c.options.Dir
	files := map[string][]byte{}
	if c.options.Audit {
		files[dir.RunFile(policyFile)] = []byte(auditPolicy)
		files[dir.AuditLog()] = nil
	}
	if c.options.Components.Has(component.Kwok) {
		files[dir.RunFile(kwokFile)] = c.options.KwokConfig
	}
	return write(files)
}

// arguments returns the command line of a component, without the program.
func (c *Cluster) arguments(n component.Name) []string {
	switch n {
	case component.Etcd:
		return c.etcdArguments()
	case component.APIServer:
		return c.apiServerArguments()
	case component.ControllerManager:
		return c.controllerManagerArguments()
	case component.Scheduler:
		return c.schedulerArguments()
	default:
		return c.kwokArguments()
	}
}

func (c *Cluster) etcdArguments() []string {
	// Advertised URLs must look like host:port; with a single member nobody dials them.
	const advertised = "http://127.0.0.1:1"
	return []string{
		"--name=" + memberName,
		"--data-dir=" + c.options.Dir.EtcdData(),
		"--listen-client-urls=unix://" + etcdSocket,
		"--advertise-client-urls=" + advertised,
		"--listen-peer-urls=unix://" + peerSocket,
		"--initial-advertise-peer-urls=" + advertised,
		"--initial-cluster=" + memberName + "=" + advertised,
		"--unsafe-no-fsync=true",
		"--log-level=warn",
	}
}

func (c *Cluster) apiServerArguments() []string {
	dir := c.options.Dir
	arguments := append(c.servingArguments(component.APIServer),
		"--etcd-servers=unix://"+etcdSocket,
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		"--client-ca-file="+dir.PKI(authorityFile+".crt"),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+dir.PKI(accountsFile+".pub"),
		"--service-account-signing-key-file="+dir.PKI(accountsFile+".key"),
		"--service-cluster-ip-range="+serviceRange,
		"--allow-privileged=true",
	)
	if c.options.Audit {
		// Blocking: an event is in the file before the client has the whole response.
		arguments = append(arguments,
			"--audit-policy-file="+dir.RunFile(policyFile),
			"--audit-log-path="+dir.AuditLog(),
			"--audit-log-mode=blocking",
			"--audit-log-format=json",
			"--audit-log-maxsize="+unlimitedAuditSize,
		)
	}
	return c.withGates(arguments)
}

func (c *Cluster) controllerManagerArguments() []string {
	dir := c.options.Dir
	return c.withGates(append(c.servingArguments(component.ControllerManager),
		"--kubeconfig="+c.kubeconfigOf(component.ControllerManager),
		"--leader-elect=false",
		"--use-service-account-credentials=true",
		"--service-account-private-key-file="+dir.PKI(accountsFile+".key"),
		"--root-ca-file="+dir.PKI(authorityFile+".crt"),
		"--cluster-signing-cert-file="+dir.PKI(authorityFile+".crt"),
		"--cluster-signing-key-file="+dir.PKI(authorityFile+".key"),
		// With the default rate limits the first start takes four seconds longer.
		"--kube-api-qps=2000",
		"--kube-api-burst=4000",
		// After an outage of the API server the heartbeats of the simulated nodes are late. Without this long grace
		// period, their Pods would be marked as not ready. Unlike a kubelet, kwok doesn't mark them ready again.
		"--node-monitor-grace-period=24h",
		"--"+ProvisionerFlag+"="+provisionerName,
		"--"+ProvisionerKubeconfigFlag+"="+dir.RunFile(provisionerKubeconfig),
	))
}

func (c *Cluster) schedulerArguments() []string {
	return c.withGates(append(c.servingArguments(component.Scheduler),
		"--kubeconfig="+c.kubeconfigOf(component.Scheduler),
		"--leader-elect=false",
	))
}

func (c *Cluster) kwokArguments() []string {
	return []string{
		"--kubeconfig=" + c.kubeconfigOf(component.Kwok),
		"--config=" + c.options.Dir.RunFile(kwokFile),
		"--manage-all-nodes=true",
		"--cidr=" + podRange,
		"--node-ip=" + fakeAddress,
		"--node-lease-duration-seconds=40",
	}
}

// servingArguments make one of Kubernetes' own servers listen on its reserved port, with TLS.
func (c *Cluster) servingArguments(n component.Name) []string {
	dir := c.options.Dir
	return []string{
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(c.ports[n].Number()),
		"--permit-port-sharing=true",
		"--tls-cert-file=" + dir.PKI(servingFile+".crt"),
		"--tls-private-key-file=" + dir.PKI(servingFile+".key"),
		"--profiling=false",
	}
}

func (c *Cluster) withGates(arguments []string) []string {
	if c.options.FeatureGates == "" {
		return arguments
	}
	return append(arguments, "--feature-gates="+c.options.FeatureGates)
}
