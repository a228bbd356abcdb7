// Package size sets replicas and resources of workloads by the size that a resource names.
//
//	//go:embed sizes.yaml
//	var sizes []byte
//
//	table, err := size.ReadYAML(sizes)
//	...
//	sized, err := size.Components(table, size.Default("small"))
//	...
//	op.Control(Shop{}, sized)
//
// A [Table] has, for each size and each component, a number of replicas and the resources of containers:
//
//	small:
//	  web: {replicas: 1, resources: {requests: {cpu: 100m, memory: 128Mi}}}
//	  db: 1
//	large:
//	  web: {replicas: 3, resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {memory: 2Gi}}}
//	  db: {replicas: 3, containers: {postgres: {requests: {memory: 4Gi}}}}
//
// It is validated when it is read, all mistakes at once, so a table with a mistake never reaches a reconcile. A
// resource names its size in spec.size, and may override single values:
//
//	spec:
//	  size: large
//	  overrides:
//	    web: {replicas: 0, resources: {limits: {cpu: "2"}}}
//
// # Which value wins
//
// An override wins over the table, and the table wins over what the author wrote in the object. The requests and limits
// of a container become exactly those of the table with the overrides. What the table doesn't set stays as the author
// wrote it: other components, the number of replicas if the table has none, and containers that it doesn't name if it
// has no resources for all. Init containers are sized by their names only. A container with other needs than the rest
// is named in containers. In an override replicas, resources and containers.NAME replace what has the same name in the
// table, resources one by one.
//
// 0 is a number like any other. null in an override counts as absent. If neither a size nor the object has a number of
// replicas, the API server makes it 1, also when the size before had another one: give all sizes a number, or none.
//
// # Scalers
//
// Whoever sets the number of replicas through the scale subresource, such as a HorizontalPodAutoscaler, KEDA, or a
// person with kubectl scale, owns it from then on, and the operator leaves it alone. A change of the size then changes
// resources only. An override other than 0 doesn't count either. This lasts until the number is taken back, by the
// command take-back of the operator or deploy.Manager.TakeBack.
//
// A scaler should be declared, so that the operator doesn't set a number even before the scaler has. An autoscaler
// (HorizontalPodAutoscaler, or ScaledObject of KEDA) in the same component declares itself by its target; for any other
// one there is the option [Scaled]. A declared scaler changes three things. A new workload is applied without a number,
// which the API server makes 1. In a workload that had a number from the operator, that number stays until the scaler
// sets one, and the size changes it no more: the API server would reset it to 1 if the operator just left it out. When
// the scaler is gone, because its object is deleted or Scaled returns false, the operator takes the number back and
// sets that of the size, or without one that of the object. It recognizes this by the annotation [ScaledAnnotation] of
// the workload. As long as it isn't allowed to read autoscalers, one that was declared before counts as present.
//
// An override of 0 is respected with any scaler: the operator takes the number from it. A 0 of the table isn't. At 0 a
// HorizontalPodAutoscaler does nothing. When the override is removed, a workload with a declared scaler starts again at
// 1, and another one with the number of its size. KEDA scales up from 0 itself, against the operator: pause its
// ScaledObject, too.
//
// # When to use it
//
// Use it if people choose from a few sizes. [Table.For] and [Table.Of] return the values for authors who set them in
// their objects themselves, and [Values.Set] sets them in any object; these know nothing of scalers. Pods and Jobs that
// exist keep the resources that they have, because these can't be changed.
package size
