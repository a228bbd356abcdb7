package dryrun

// History sets how many events are kept, for tests of watches that continue later.
func History(events int) Option { return func(o *options) { o.history = events } }
