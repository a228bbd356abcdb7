package measure

import "time"

// Settings are the parameters of a round.
type Settings struct {
	// Definitions is the folder with the CustomResourceDefinition, Programs the folder with the operators' programs,
	// and Logs the folder for their logs.
	Definitions, Programs, Logs string
	// Sources is the folder with a folder for each operator's code.
	Sources string
	// Bundles is the number of Bundles in most phases. Drifts is the number of Bundles with an edited child, and also
	// of Bundles with a deleted child.
	Bundles, Drifts int
	// Idle is how long the phase lasts in which nothing happens.
	Idle time.Duration
	// Round is the number of the round, from 1 on.
	Round int
	// Starts is how often the operator is started before there are any Bundles.
	Starts int
	// Memory is the number of Bundles for the measurement of memory: missing ones are created before.
	Memory int
}

// quiet is how long an operator must not write before it counts as done.
const quiet = 2 * time.Second

// patience is how long one phase may take.
const patience = 20 * time.Minute
