package reconcile

// gotFurther tells whether a session that failed has left more objects as they should be than any before it: such a resource isn't stuck, and
// needn't wait the longer for the failures before. It can't be so more often than the resource has objects.
func (r *Reconciler) gotFurther(s *Session) bool {
	objects := 0
	for _, c := range s.components {
		for _, result := range c.results {
			if result.Err == nil {
				objects++
			}
		}
	}
	before, now := r.furthest.change(s, func(before int) int { return max(before, objects) })
	return now > before
}
