package cluster_test

// immutablePatches are further changes of manifests, by kind and by the number of the manifest.
var immutablePatches = map[string][]string{
	"CSINode 1": {
		"spec: {drivers: [{name: b.example.com, nodeID: two}]}",
		"spec: {drivers: [{name: b.example.com, nodeID: three}, {name: c.example.com, nodeID: one}]}",
	},
	"ConfigMap 2": {
		"data: {a: '1'}", "data: {a: '1', b: '2', e: '3'}",
		"{data: null, binaryData: null, immutable: false}",
	},
	"CustomResourceDefinition 1": {"spec: {names: {kind: Jug, listKind: JugList}}", "spec: {scope: Cluster}"},
	"Job 1": {
		"spec: {suspend: true, template: {spec: {nodeSelector: {c: d}}}}", "spec: {parallelism: 1}",
	},
	"Job 2": {
		"spec: {completions: 3, parallelism: 3}", "spec: {completions: 3}", "spec: {suspend: false}",
		"spec: {suspend: false, template: {spec: {nodeSelector: {c: d}}}}",
		"spec: {template: {spec: {affinity: null}}}",
		"spec: {template: {spec: {affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: " +
			"[{weight: 1, podAffinityTerm: {topologyKey: zone}}]}}}}}",
	},
	"Node 1": {
		"spec: {podCIDR: 10.2.0.0/24, podCIDRs: [10.2.0.0/24]}", "spec: {podCIDR: null, podCIDRs: null}",
		"spec: {podCIDRs: [10.1.0.0/24, '2001:db8::/64']}", "spec: {externalID: one}",
	},
	"PersistentVolumeClaim 1": {
		"spec: {resources: {requests: {storage: 1024Mi}}}", "spec: {resources: {requests: {storage: 512Mi}}}",
		"spec: {resources: {requests: {storage: 2Gi}}}", "spec: {storageClassName: other}",
		"metadata: {annotations: {volume.beta.kubernetes.io/storage-class: none}}",
	},
	"Pod 1": {
		"spec: {activeDeadlineSeconds: 300}", "spec: {activeDeadlineSeconds: 900}",
		"spec: {tolerations: [{key: a, operator: Equal, value: b, effect: NoExecute, tolerationSeconds: 20}, " +
			"{key: c, operator: Exists}, {key: d, operator: Exists}]}",
		"spec: {tolerations: [{key: c, operator: Exists}]}",
		"spec: {schedulingGates: [{name: example.com/a}]}",
	},
	"Pod 2": {
		"spec: {schedulingGates: null}", "spec: {schedulingGates: [{name: example.com/c}]}",
		"spec: {nodeSelector: {e: f}}", "spec: {nodeSelector: {a: null}}",
		"spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" +
			"{matchExpressions: [{key: a, operator: In, values: [b]}, {key: c, operator: In, values: [d]}, " +
			"{key: e, operator: Exists}]}]}}}}",
		"spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" +
			"{matchExpressions: [{key: e, operator: Exists}]}]}}}}",
	},
	"ResourceQuota 1": {"spec: {scopes: [NotTerminating, NotBestEffort]}", "spec: {scopes: [NotTerminating]}"},
	"Secret 3":        {"{type: Opaque}", "{type: kubernetes.io/tls, data: {tls.crt: '', tls.key: ''}}"},
	"Service 1": {
		"spec: {clusterIP: None}", "spec: {clusterIP: 10.0.0.7}", "spec: {clusterIP: None, clusterIPs: [None]}",
		"spec: {ipFamilies: [IPv4]}", "spec: {type: NodePort}", "spec: {type: LoadBalancer}",
		"spec: {type: LoadBalancer, loadBalancerClass: example.com/one}",
		"spec: {type: ExternalName, externalName: example.com, ports: null, internalTrafficPolicy: null}",
	},
	"Service 2": {
		"spec: {clusterIP: 10.0.0.8, clusterIPs: [10.0.0.8]}", "spec: {clusterIP: null, clusterIPs: null}",
		"spec: {clusterIP: null, clusterIPs: null, type: ExternalName, externalName: a, ports: null, ipFamilies: null, " +
			"ipFamilyPolicy: null}",
	},
	"Service 3": {
		"spec: {loadBalancerClass: null}", "spec: {loadBalancerClass: example.com/two}",
		"spec: {healthCheckNodePort: 32123}", "spec: {externalTrafficPolicy: Cluster, healthCheckNodePort: null}",
		"spec: {type: ClusterIP, loadBalancerClass: null, externalTrafficPolicy: null, " +
			"allocateLoadBalancerNodePorts: null, loadBalancerSourceRanges: null}",
	},
	"Service 4": {
		"spec: {type: ClusterIP, externalName: null, ports: [{port: 80}]}",
		"spec: {type: ClusterIP, clusterIP: None, externalName: null}",
	},
	"StatefulSet 1": {
		"spec: {replicas: 3, template: {spec: {terminationGracePeriodSeconds: 2}}}",
		"spec: {volumeClaimTemplates: null}", "spec: {serviceName: null}",
	},
}
