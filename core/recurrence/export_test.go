package recurrence

// Parsed is how often an expression was parsed.
func (c *Cache) Parsed() int { return c.parsed }

// Kept is how many expressions are kept, and how many bytes they take, about.
func (c *Cache) Kept() (texts, bytes int) { return len(c.texts), c.kept }

// MaxKept bounds these bytes.
const MaxKept = maxKept
