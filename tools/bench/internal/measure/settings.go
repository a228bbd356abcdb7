package measure

import "time"

// Settings are what a round is made of.
type Settings struct {
	// Definitions is the folder with the CustomResourceDefinition, Programs the one with the operators' programs, Logs
	// the one for what they say.
	Definitions, Programs, Logs string
	// Sources is the folder with a folder for each operator's code.
	Sources string
	// Bundles is how many there are in most phases, Drifts how many of them have an edited child, and how many others a
	// deleted one.
	Bundles, Drifts int
	// Idle is how long nothing happens.
	Idle time.Duration
	// Round is the number of the round, from 1 on.
	Round int
	// Starts is how often the operator is started before anything is there.
	Starts int
	// Memory is how many Bundles there are when memory is looked at: as many more are created as are missing.
	Memory int
}

// quiet is how long an operator has asked for no write when it is taken to be done.
const quiet = 2 * time.Second

// patience is how long one phase may take.
const patience = 20 * time.Minute
