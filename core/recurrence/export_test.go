package recurrence

// Parsed returns how many expressions were parsed.
func (c *Cache) Parsed() int { return c.parsed }

// Kept returns the number of cached expressions and their approximate size in bytes.
func (c *Cache) Kept() (texts, bytes int) { return len(c.texts), c.kept }

// MaxKept is the maximum of these bytes.
const MaxKept = maxKept
