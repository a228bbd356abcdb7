// Package lifecycle holds what every style of reconciler does for a resource, whatever it is made of: it writes the
// status, without fields that the schema drops and shortened to what the cluster stores, lets a paused resource rest,
// reads the levels of its log, and counts how the resources stand.
//
// It knows no session and no component. A style has one Lifecycle for each kind. A style that embeds it is a
// watch.Forgetter and a standing.Provider.
package lifecycle
